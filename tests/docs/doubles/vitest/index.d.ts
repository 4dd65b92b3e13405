export function test(name: string, body: () => unknown): void;
export function expect(value: unknown): {
  toBe(other: unknown): void;
  toEqual(other: unknown): void;
  toContain(other: unknown): void;
  toMatch(other: RegExp | string): void;
};
