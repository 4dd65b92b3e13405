// The conformance suite over HTTP, in whatever host imports this: each case has a backend of its own, which
// the server makes when it is asked for it.

/** Cases with each kind of request and answer; the rest is the same code in every host. */
export const SHORT = [
  ...["byte", "an edit replaces", "delete", "upload", "a commit makes all changes"],
  "do not disturb each other",
];

export async function conform(
  { HttpBackend, begin, undo, runConformance },
  { url, host, whole, except, size },
) {
  let last = 0;
  const report = await runConformance(
    async ({ writeMode }) => {
      last += 1;
      const authorization = `${host} ${last} ${writeMode}`;
      const files = new HttpBackend({ url, headers: { authorization } });
      await files.ls("/");
      return files;
    },
    { turns: { begin, undo }, timeoutMs: 60_000, except, ...(whole ? {} : { only: SHORT }) },
  );
  const headers = { authorization: `${host} parts overwrite` };
  const failures = await inParts(new HttpBackend({ url, headers }), size);
  return { ...report, failures: [...report.failures, ...failures] };
}

/** Files whose bytes come in parts: what is wrong. */
export async function inParts(files, size = (5 << 19) + 3) {
  const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 7 + (at >> 11)) & 255);
  const stream = (end) => () => {
    let at = 0;
    return new ReadableStream({
      pull(to) {
        if (at >= end) return to.close();
        to.enqueue(bytes.slice(at, Math.min(end, at + 100_000)));
        at += 100_000;
      },
    });
  };
  const given = {
    "/a Blob.bin": new Blob([bytes]),
    "/a stream.bin": { size, stream: stream(size) },
    "/torn.bin": { size, stream: stream(size - 100_000) },
  };
  const stored = await files.uploadFiles(Object.entries(given));
  const got = await files.downloadFiles(Object.keys(given));
  const same = (content) =>
    content?.length === size && content.every((one, at) => one === bytes[at]);
  const wrong = [];
  for (const [at, { path, code, message }] of stored.entries()) {
    const isTorn = path === "/torn.bin";
    if (isTorn ? code === undefined || got[at].content : code || !same(got[at].content)) {
      wrong.push(`${path}: ${code} ${message} ${got[at].content?.length}`);
    }
  }
  return wrong;
}
