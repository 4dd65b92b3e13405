// Archives: a directory as a zip archive, downloaded; and the files of one.

import { unzip, type Zippable, zip } from "fflate";
import { tree } from "../tree/mounts";

async function zipOf(directory: string): Promise<{ bytes: Uint8Array; count: number }> {
  const { files = [], error } = await tree.value.glob("**", directory);
  if (error) throw new Error(error);
  const answers = await tree.value.downloadFiles(files.map(({ path }) => path));
  const entries: Zippable = {};
  for (const { path, content } of answers) {
    if (content) entries[path.slice(1)] = content;
  }
  const bytes = await new Promise<Uint8Array>((resolve, reject) =>
    zip(entries, { level: 6 }, (failure, data) => (failure ? reject(failure) : resolve(data))),
  );
  return { bytes, count: Object.keys(entries).length };
}

/** The files of an archive, by their paths in it. */
export async function filesOf(archive: Uint8Array): Promise<Array<[string, Uint8Array]>> {
  const all = await new Promise<Record<string, Uint8Array>>((resolve, reject) =>
    unzip(archive, (failure, files) => (failure ? reject(failure) : resolve(files))),
  );
  return Object.entries(all).filter(([path]) => !path.endsWith("/"));
}

export async function downloadZip(directory: string) {
  const { bytes, count } = await zipOf(directory);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes as BlobPart], { type: "application/zip" }));
  link.download = `${directory === "/" ? "kitbag" : directory.slice(1).replaceAll("/", "-")}.zip`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return count;
}
