// Every change that this page made or saw a tool make, for the view of differences.

import { signal } from "@preact/signals";

export interface Change {
  path: string;
  before: string;
  after: string;
  by: string;
  at: number;
}

const LONGEST = 200;

export const journal = signal<Change[]>([]);

export function record(path: string, before: string, after: string, by: string) {
  if (before === after) return;
  const change = { path, before, after, by, at: Date.now() };
  journal.value = [change, ...journal.value].slice(0, LONGEST);
}
