// Storages in memory, in the forms that kitbag's backends expect: plain code for any host.

/** A storage for `CustomBackend`. */
export class MapStorage {
  files = new Map();
  get(path) {
    return this.files.get(path) ?? null;
  }
  list(prefix) {
    return [...this.files.values()].filter(({ path }) => path.startsWith(prefix));
  }
  put(path, file) {
    this.files.set(path, { ...file, path, size: file.content.length });
  }
  delete(path) {
    return this.files.delete(path);
  }
}

/** A LangGraph store. */
export class MapStore {
  items = new Map();
  get(namespace, key) {
    return this.items.get(JSON.stringify([namespace, key])) ?? null;
  }
  put(namespace, key, value) {
    const now = new Date();
    const item = { namespace, key, value, createdAt: now, updatedAt: now };
    this.items.set(JSON.stringify([namespace, key]), item);
  }
  delete(namespace, key) {
    this.items.delete(JSON.stringify([namespace, key]));
  }
  search(namespace, { limit = 10, offset = 0 } = {}) {
    const mine = [...this.items.values()].filter(
      (item) => JSON.stringify(item.namespace) === JSON.stringify(namespace),
    );
    return mine.slice(offset, offset + limit);
  }
}

/** A repo of the Context Hub, as its client shows it. */
export class MapHub {
  // `__proto__` is a name like any other.
  files = Object.create(null);
  commits = 0;
  async pullAgent() {
    return { commit_hash: `c${this.commits}`, files: { ...this.files } };
  }
  async pushAgent(_name, { files }) {
    for (const [path, entry] of Object.entries(files)) {
      if (entry === null) delete this.files[path];
      else this.files[path] = entry;
    }
    this.commits += 1;
    return `https://hub.test/context/repo/c${this.commits}`;
  }
}

/** A bucket as a Worker's R2 binding. */
export class MapBucket {
  #objects = new Map();
  #versions = 0;

  async head(key) {
    const found = this.#objects.get(key);
    return found ? described(found) : null;
  }

  async get(key, { onlyIf, range } = {}) {
    const found = this.#objects.get(key);
    if (!found) return null;
    if (!admits(onlyIf, found)) return described(found);
    const { offset = 0, length = found.bytes.length } = range ?? {};
    if (range && offset >= found.bytes.length) throw new Error("get: the range is not satisfiable");
    const body = found.bytes.subarray(offset, offset + length);
    return { ...described(found), body, arrayBuffer: async () => body.slice().buffer };
  }

  async put(key, value, { onlyIf, httpMetadata, customMetadata } = {}) {
    if (!admits(onlyIf, this.#objects.get(key))) return null;
    this.#versions += 1;
    // Faster than from an iterator, with some megabytes.
    const bytes = new Uint8Array(value);
    const etag = `v${this.#versions}`;
    const object = { key, bytes, etag, uploaded: new Date(), httpMetadata, customMetadata };
    this.#objects.set(key, object);
    return described(object);
  }

  async delete(keys) {
    for (const key of [keys].flat()) this.#objects.delete(key);
  }

  async list({ prefix = "", delimiter } = {}) {
    const objects = [];
    const delimitedPrefixes = new Set();
    for (const key of [...this.#objects.keys()].sort(byBytes)) {
      if (!key.startsWith(prefix)) continue;
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      if (end < 0) objects.push(described(this.#objects.get(key)));
      else delimitedPrefixes.add(key.slice(0, end + delimiter.length));
    }
    return { objects, delimitedPrefixes: [...delimitedPrefixes], truncated: false };
  }
}

function described({ key, bytes, etag, uploaded, httpMetadata, customMetadata }) {
  const size = bytes.length;
  return { key, size, etag, httpEtag: `"${etag}"`, uploaded, httpMetadata, customMetadata };
}

/** Whether conditions in the form of HTTP headers hold. */
function admits(headers, found) {
  const match = headers?.get("if-match");
  const noneMatch = headers?.get("if-none-match");
  const has = (tags) =>
    found !== undefined && (tags === "*" || tags.replaceAll('"', "") === found.etag);
  return (match == null || has(match)) && (noneMatch == null || !has(noneMatch));
}

function byBytes(a, b) {
  const [one, other] = [a, b].map((text) => new TextEncoder().encode(text));
  const differs = one.findIndex((byte, at) => byte !== other[at]);
  if (differs < 0) return one.length - other.length;
  return (one[differs] ?? -1) - (other[differs] ?? -1);
}
