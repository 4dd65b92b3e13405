export class Pool {
  constructor(options?: { connectionString?: string });
  query(sql: string, params?: unknown[]): Promise<{ rows: object[] }>;
}
declare const pg: { Pool: typeof Pool };
export default pg;
