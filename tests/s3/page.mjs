// What the Chromium test runs in its page.

import { begin, S3Backend, undo } from "kitbag-under-test";
import { runConformance } from "kitbag-under-test/conformance";
import { work } from "./work.mjs";

/** What every host does, by name. */
globalThis.does = (what, location) => {
  const make = (options) => new S3Backend({ ...location, ...options });
  return work[what](make, { suite: { runConformance, turns: { begin, undo } } }[what]);
};

globalThis.signedByHost = async (options, signer) => {
  const s3 = new S3Backend({
    ...options,
    sign: async (request) => {
      const answer = await fetch(signer, { method: "POST", body: JSON.stringify(request) });
      return answer.json();
    },
  });
  return [
    await s3.write("/a.txt", "one"),
    await s3.edit("/a.txt", "one", "two"),
    await s3.read("/a.txt"),
    await s3.delete("/a.txt"),
  ];
};

globalThis.read = (options) => new S3Backend(options).read("/a.txt");
globalThis.ready = true;
