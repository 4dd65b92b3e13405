// What Vite adds to modules.

declare module "*?raw" {
  const text: string;
  export default text;
}
declare module "*.css" {}
interface ImportMeta {
  readonly env: { readonly PROD: boolean };
}
