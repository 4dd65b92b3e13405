// Files that come from outside: dropped, picked in a dialogue, single or whole folders.

import { announceChange } from "../tree/changes";
import { tree } from "../tree/mounts";

export interface Incoming {
  /** Path below the folder that they are put in, without a leading slash. */
  path: string;
  file: File;
}

const BATCH = 100;

function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

async function walk(entry: FileSystemEntry, above: string, out: Incoming[]) {
  const path = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    out.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives at most a hundred at a time.
  for (let some = await entriesOf(reader); some.length > 0; some = await entriesOf(reader)) {
    for (const one of some) await walk(one, `${path}/`, out);
  }
}

/** What was dropped, folders with everything in them. */
export async function dropped(data: DataTransfer): Promise<Incoming[]> {
  // Entries must be asked for before the first pause: the list is emptied afterwards.
  const items = [...data.items].filter(({ kind }) => kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const plain = [...data.files];
  const out: Incoming[] = [];
  for (const [at, entry] of entries.entries()) {
    const file = plain[at];
    if (entry) await walk(entry, "", out);
    else if (file) out.push({ path: file.name, file });
  }
  return out;
}

export const picked = (list: FileList): Incoming[] =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/** Puts files into a directory; gives a sentence for each that failed. */
export async function take(incoming: Incoming[], directory: string) {
  const failed: string[] = [];
  for (let at = 0; at < incoming.length; at += BATCH) {
    const batch = await Promise.all(
      incoming
        .slice(at, at + BATCH)
        .map(
          async ({ path, file }): Promise<[string, Uint8Array]> => [
            `${directory}/${path}`,
            new Uint8Array(await file.arrayBuffer()),
          ],
        ),
    );
    for (const { path, error } of await tree.value.uploadFiles(batch)) {
      if (error) failed.push(`${path}: ${error.replaceAll("_", " ")}`);
    }
  }
  announceChange();
  return { stored: incoming.length - failed.length, failed };
}
