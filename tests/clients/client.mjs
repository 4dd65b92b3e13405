// The conformance suite over HTTP, in whatever host imports this: each case has a backend of its own, which
// the server makes when it is asked for it.

/** Cases with each kind of request and answer; the rest is the same code in every host. */
export const SHORT = ["byte", "an edit replaces", "delete", "upload", "a commit makes all changes"];

export function conform(
  { HttpBackend, begin, undo, runConformance },
  { url, host, whole, except },
) {
  let last = 0;
  return runConformance(
    async ({ writeMode }) => {
      last += 1;
      const authorization = `${host} ${last} ${writeMode}`;
      const files = new HttpBackend({ url, headers: { authorization } });
      await files.ls("/");
      return files;
    },
    { turns: { begin, undo }, timeoutMs: 60_000, except, ...(whole ? {} : { only: SHORT }) },
  );
}
