// A backend of the component with the methods and answers of the npm package, so that both can be asked the
// same.

const code = (word) => word.replaceAll("-", "_");

/** The error of a call, whether jco throws it as it is or wrapped; undefined if the call did not fail. */
export function errorOf(call) {
  try {
    call();
    return undefined;
  } catch (thrown) {
    const error = thrown?.payload ?? thrown;
    // What a host has thrown is no answer.
    if (thrown instanceof WebAssembly.RuntimeError || typeof error?.code !== "string") throw thrown;
    return error;
  }
}

/** The answer of a call, or the error that it ended with. */
function answered(call, shape) {
  let value;
  const error = errorOf(() => {
    value = call();
  });
  if (error !== undefined) {
    const answer = { error: error.message, code: code(error.code) };
    if (error.retryAfterMs !== undefined) answer.retryAfterMs = Number(error.retryAfterMs);
    return answer;
  }
  return shape(value);
}

const contentOf = ({ val }) => val;

const iso = (micros) =>
  micros === undefined ? "" : new Date(Number(micros / 1000n)).toISOString();

const fileOf = ({ path, isDirectory, size, modified }) => ({
  path,
  is_dir: isDirectory,
  size: Number(size ?? 0n),
  modified_at: iso(modified),
});

const present = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const OPERATION_ERRORS = {
  "not-found": "file_not_found",
  "is-directory": "is_directory",
  "invalid-path": "invalid_path",
  "invalid-argument": "invalid_path",
};
const operationError = (error) => OPERATION_ERRORS[error.code] ?? "permission_denied";

/** What a search says besides what it found. */
const more = ({ truncated, ignored }) => ({
  truncated: truncated || undefined,
  ignored: ignored || undefined,
});

/** Found lines with the context beside each match. */
function matchesOf({ files }) {
  const matches = [];
  for (const { path, text: lines, numbers, kinds } of files) {
    let before = [];
    for (const [at, text] of lines.split("\n").entries()) {
      const [number, kind] = [numbers[at], kinds[at] ?? "match"];
      if (kind === "before") before.push(text);
      else if (kind === "match") {
        matches.push({ path, line: number, text, ...(before.length > 0 ? { before } : {}) });
        before = [];
      } else {
        const last = matches.at(-1);
        last.after = [...(last.after ?? []), text];
      }
    }
  }
  return matches;
}

/** The protocol over a backend of the component. */
export class Protocol {
  constructor(inner) {
    this.inner = inner;
  }

  ls(path) {
    return answered(
      () => this.inner.ls(path),
      (files) => ({ files: files.map(fileOf) }),
    );
  }

  read(path, offset, limit) {
    return answered(
      () => this.inner.read(path, offset, limit),
      ({ content, mimeType, position }) =>
        present({ content: contentOf(content), mimeType, ...present(position ?? {}) }),
    );
  }

  readRaw(path) {
    return answered(
      () => this.inner.readRaw(path),
      ({ content, mimeType, format, created, modified }) => {
        const times = { created_at: iso(created), modified_at: iso(modified) };
        const value = contentOf(content);
        if (format === "v1") return { data: { content: value.split("\n"), ...times } };
        return { data: { content: value, mimeType, ...times } };
      },
    );
  }

  grep(pattern, path, glob, maxCount, options = {}) {
    const { regex = false, ignoreCase = false, before = 0, after = 0, maxPerFile } = options ?? {};
    const query = {
      pattern,
      path: path ?? undefined,
      glob: glob ?? undefined,
      maxCount: maxCount ?? undefined,
      maxPerFile: maxPerFile ?? undefined,
      before,
      after,
      switches: { regex, ignoreCase },
    };
    return answered(
      () => this.inner.grep(query),
      (found) => present({ matches: matchesOf(found), ...more(found) }),
    );
  }

  glob(pattern, path) {
    return answered(
      () => this.inner.glob(pattern, path ?? undefined),
      (found) => present({ files: found.files.map(fileOf), ...more(found) }),
    );
  }

  write(path, content) {
    const tag = typeof content === "string" ? "text" : "bytes";
    return answered(
      () => this.inner.write(path, { tag, val: content }),
      (written) => ({ path: written }),
    );
  }

  edit(path, old, fresh, replaceAll = false) {
    return answered(
      () => this.inner.edit(path, old, fresh, replaceAll),
      ({ path: edited, occurrences, crlf }) =>
        present({
          path: edited,
          occurrences,
          metadata: crlf ? { lineEndings: "crlf" } : undefined,
        }),
    );
  }

  append(path, text) {
    return answered(
      () => this.inner.append(path, text),
      (appended) => ({ path: appended }),
    );
  }

  delete(path) {
    return answered(
      () => this.inner.delete(path),
      (deleted) => ({ path: deleted }),
    );
  }

  move(from, to, { overwrite = false } = {}) {
    return answered(
      () => this.inner.move(from, to, overwrite),
      (moved) => ({ path: moved }),
    );
  }

  copy(from, to, { overwrite = false } = {}) {
    return answered(
      () => this.inner.copy(from, to, overwrite),
      (copied) => ({ path: copied }),
    );
  }

  uploadFiles(files) {
    return this.inner
      .upload(files)
      .map(({ path, error }) => ({ path, error: error ? operationError(error) : null }));
  }

  downloadFiles(paths) {
    return this.inner.download(paths).map(({ path, body }) => {
      if (body.tag === "ok") return { path, content: body.val, error: null };
      return { path, content: null, error: operationError(body.val) };
    });
  }

  execute(command, { timeoutMs } = {}) {
    const limit = timeoutMs === undefined ? undefined : BigInt(timeoutMs);
    return answered(
      () => this.inner.execute(command, limit),
      ({ output, exitCode, truncated }) => ({ output, exitCode: exitCode ?? null, truncated }),
    );
  }
}

/** Options of a state. */
export const stateOptions = (options = {}) => ({
  writeMode: "create",
  fileFormat: "v2",
  ...options,
});

/** A policy without rules. */
export const policyOptions = (options = {}) => ({
  switches: {},
  readOnlyPrefixes: [],
  permissions: [],
  rates: [],
  ...options,
});

/** Options of a history that is kept in another backend. */
export const historyOptions = (backend, { path, key, ...options } = {}) => ({
  keepIn: { backend, path, key },
  by: "",
  keep: {},
  writeMode: "create",
  ...options,
});

/** Rules about labels. */
export const labelOptions = (options = {}) => ({
  labels: [{ paths: ["/web/**"], label: "untrusted" }],
  flows: [],
  ...options,
});
