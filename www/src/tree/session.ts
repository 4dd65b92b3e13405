// What a reload would lose, kept: files in memory are saved as one snapshot a tab, in IndexedDB, and
// restored at the next start. The other storages keep their files by themselves.

import { signal } from "@preact/signals";
import { changed } from "./changes";
import { files, memories, memory, session } from "./mounts";

/** What was found at the start, in a sentence; empty on a first visit. */
export const found = signal("");

/** Whether files of an earlier visit, or of another tab, are there. */
export const returning = signal(false);

function tabName(): string {
  const kept = sessionStorage.getItem("tab");
  // A tab that was opened from this one starts with a copy of its storage, but not of its name.
  const reloaded =
    (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined)
      ?.type !== "navigate";
  if (kept && reloaded) return kept;
  const made = Math.random().toString(36).slice(2, 8);
  sessionStorage.setItem("tab", made);
  return made;
}

export const tab = tabName();
const place = `/${tab}.json`;

const packed = (_: string, value: unknown) =>
  value instanceof Uint8Array
    ? { base64: btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join("")) }
    : value;
const unpacked = (_: string, value: { base64?: string }) =>
  typeof value?.base64 === "string"
    ? Uint8Array.from(atob(value.base64), (letter) => letter.charCodeAt(0))
    : value;

let saving: Promise<unknown> = Promise.resolve();
let last = "";

/** Saves the snapshot, if it has changed. */
function saveSession() {
  saving = saving.then(async () => {
    const text = JSON.stringify(memory.snapshot(), packed);
    if (text === last) return;
    const { error } = await session.write(place, text);
    if (!error) last = text;
  });
  return saving;
}

async function count(backend: { glob(pattern: string): unknown } | undefined) {
  if (!backend) return 0;
  const { files: all } = (await backend.glob("**")) as { files?: unknown[] };
  return all?.length ?? 0;
}

/** This tab's snapshot; for a tab that has none, the newest of the others, as a copy. */
async function snapshotPlace(): Promise<string> {
  // A glob gives the newest first.
  const { files: all = [] } = await session.glob("*.json");
  const own = all.find(({ path }) => path === place);
  return (own ?? all[0])?.path ?? place;
}

/** Restores what was saved, and says what was found. */
export async function restoreSession() {
  const saved = await session.readRaw(await snapshotPlace());
  const content = saved.data?.content;
  if (typeof content === "string" && content !== "{}") {
    memory.restore(JSON.parse(content, unpacked));
    last = content;
  }
  const counts = [
    ["in memory, from its snapshot", await count(memory)],
    ["in IndexedDB", await count(memories)],
    ["in OPFS", await count(files)],
  ] as const;
  const some = counts.filter(([, number]) => number > 0);
  if (some.length === 0) return;
  returning.value = true;
  found.value = `Found again: ${some
    .map(([where, number]) => `${number} ${number === 1 ? "file" : "files"} ${where}`)
    .join(", ")}.`;
}

/** Saves from now on, soon after each change. Snapshots of tabs long closed are removed. */
export async function keepSession() {
  changed.subscribe(() => void saveSession());
  addEventListener("pagehide", () => void saveSession());
  const { files: old = [] } = await session.glob("*.json");
  const day = Date.now() - 86_400_000;
  for (const { path, modified_at: at } of old.slice(1)) {
    if (path !== place && at && Date.parse(at) < day) await session.delete(path);
  }
}
