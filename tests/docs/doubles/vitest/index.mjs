// As much of Vitest as the documentation shows: a test that runs at once.

import assert from "node:assert/strict";

let before = Promise.resolve();

export function test(_name, body) {
  before = before.then(body);
  return before;
}

export const expect = (value) => ({
  toBe: (other) => assert.equal(value, other),
  toEqual: (other) => assert.deepEqual(value, other),
  toContain: (other) => assert.ok(value.includes(other), `${value} has no ${other}`),
  toMatch: (other) => assert.ok(value.match(other), `${value} does not match ${other}`),
});
