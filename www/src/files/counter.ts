// A counter that several tabs raise at once. Each raise is one edit of the text as it was read: if
// another tab was faster, the text is not there any more, and the raise is tried on the new one.

import { signal } from "@preact/signals";
import { announceChange } from "../tree/changes";
import { memories } from "../tree/mounts";
import { tab } from "../tree/session";

const FILE = "/counter.txt";

export interface Count {
  total: number;
  /** How often each tab has raised it, by name. */
  tabs: Record<string, number>;
}

export const count = signal<Count>({ total: 0, tabs: {} });
/** Raises that another tab was faster with, and that were tried again. */
export const retries = signal(0);

const textOf = ({ total, tabs }: Count) =>
  `total ${total}\n${Object.entries(tabs)
    .map(([name, raised]) => `${name} ${raised}\n`)
    .join("")}`;

function parsed(text: string): Count {
  const rows = text
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const all = rows.map(([name = "", number]) => [name, Number(number)] as const);
  const { total = 0, ...tabs } = Object.fromEntries(all);
  return { total, tabs };
}

export async function readCount(): Promise<string> {
  const { data } = await memories.readRaw(FILE);
  const text = typeof data?.content === "string" ? data.content : "";
  count.value = text === "" ? { total: 0, tabs: {} } : parsed(text);
  return text;
}

async function raiseOnce(): Promise<string | undefined> {
  for (;;) {
    const before = await readCount();
    const { total, tabs } = count.value;
    const after = { total: total + 1, tabs: { ...tabs, [tab]: (tabs[tab] ?? 0) + 1 } };
    const { error, code } =
      before === ""
        ? await memories.write(FILE, textOf(after))
        : await memories.edit(FILE, before, textOf(after));
    if (!error) {
      count.value = after;
      return undefined;
    }
    if (code !== "no_match" && code !== "conflict" && code !== "already_exists") return error;
    retries.value += 1;
  }
}

/** Raises the counter; gives an error, if there was one. */
export async function raise(times: number): Promise<string | undefined> {
  for (let n = 0; n < times; n++) {
    const error = await raiseOnce();
    if (error) return error;
  }
  announceChange();
  return undefined;
}
