// The Worker that the tests run in workerd: on an R2 binding, or on an S3 server. It answers with
// JSON.

import { begin, R2Backend, S3Backend, undo } from "kitbag-under-test";
import { runConformance } from "kitbag-under-test/conformance";
import { work } from "./work.mjs";

/** An R2 binding that counts the bytes of the bodies it gives. */
function counting(bucket) {
  let bytes = 0;
  return {
    moved() {
      const before = bytes;
      bytes = 0;
      return before;
    },
    bucket: {
      head: (...args) => bucket.head(...args),
      put: (...args) => bucket.put(...args),
      delete: (...args) => bucket.delete(...args),
      list: (...args) => bucket.list(...args),
      async get(...args) {
        const object = await bucket.get(...args);
        if (object?.body) bytes += object.range?.length ?? object.size;
        return object;
      },
    },
  };
}

export default {
  async fetch(request, env) {
    const { what, s3 } = await request.json();
    const counted = counting(env[what]);
    const make = (options) =>
      s3
        ? new S3Backend({ ...s3, ...options })
        : new R2Backend({ bucket: counted.bucket, ...options });
    const more = { suite: { runConformance, turns: { begin, undo } }, pages: counted.moved }[what];
    try {
      return Response.json((await work[what](make, more)) ?? null);
    } catch (error) {
      return Response.json({ threw: String(error?.stack ?? error) });
    }
  },
};
