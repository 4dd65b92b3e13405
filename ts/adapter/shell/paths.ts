// Paths as a shell means them, devices, and what is wrong with a path.

export class FsError extends Error {
  constructor(
    readonly code: string,
    path: string,
    what: string,
  ) {
    super(`${code}: ${what}, '${path}'`);
  }
}

/** Throws if nobody answered: that says nothing about what is there. */
export function answered(
  path: string,
  answer: { code?: string; error?: string | null } | undefined,
): void {
  if (!/^(timeout|unavailable|internal|rate_limited)$/.test(answer?.code ?? "")) return;
  throw new FsError("EIO", path, answer?.error ?? "the backend gave no answer");
}

export const gone = (path: string) => new FsError("ENOENT", path, "no such file or directory");

/** A path as a shell means it: from a directory, and with `..`, which no path of a backend has. */
export function resolved(base: string, path: string): string {
  // Most paths are in this form already.
  if (/^(\/[^/.][^/]*)+$/.test(path)) return path;
  const out: string[] = [];
  for (const segment of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (segment === "..") out.pop();
    else if (segment !== "" && segment !== ".") out.push(segment);
  }
  return `/${out.join("/")}`;
}

/** Devices that exist in every shell; what is written to them is dropped, and they read empty. */
export const DEVICES = new Set(
  ["null", "zero", "stdin", "stdout", "stderr", "tty"].map((d) => `/dev/${d}`),
);
