// A volume that a host lends: a map with versions, as a bucket would have them.

import { Volume } from "./load.mjs";

const refuse = (code, message) => {
  throw { code, message };
};

export class MapVolume extends Volume {
  files = new Map();
  #version = 0;

  capability() {
    return {
      create: "storage",
      update: "storage",
      directories: "implied",
      promises: {
        writable: true,
        keepsBinary: true,
        keepsCreated: true,
        keepsMimeType: true,
        keepsFormat: true,
      },
      notes: [],
    };
  }

  stat(path) {
    return this.files.get(path)?.metadata;
  }

  get(path) {
    return this.files.get(path);
  }

  put(path, { body, created, modified, mimeType, format }, condition) {
    const has = this.files.get(path)?.metadata.version;
    if (condition.tag === "create" && has !== undefined) refuse("already-exists", path);
    if (condition.tag === "update" && has !== condition.val) refuse("conflict", path);
    const version = `v${++this.#version}`;
    const size = BigInt(body.length);
    const metadata = { size, created, modified, mimeType, format, version };
    // jco's array is a view of the memory of the component.
    this.files.set(path, { metadata, body: Uint8Array.from(body) });
    return version;
  }

  delete(path, version) {
    const has = this.files.get(path)?.metadata.version;
    if (version !== undefined && has !== version) refuse("conflict", path);
    return this.files.delete(path);
  }

  /** Two pages, in the order in which files were stored. */
  list(prefix, from) {
    const all = [...this.files].filter(([path]) => path.startsWith(prefix));
    const half = Math.ceil(all.length / 2);
    const part = from === undefined ? all.slice(0, half) : all.slice(half);
    const entries = part.map(([path, { metadata }]) => ({ path, metadata }));
    return { entries, next: from === undefined && all.length > 1 ? "half" : undefined };
  }
}

/** Options of a volume. */
export const volumeOptions = (options = {}) => ({
  writeMode: "create",
  fileFormat: "v2",
  ...options,
});
