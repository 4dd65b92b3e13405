// `kitbag sync` of a folder and a bucket of Ceph, killed again and again.

import { after, before, test } from "node:test";
import { installed } from "../command/lib.mjs";
import { killedAgain } from "../sync/killed-command.mjs";
import { cleared, scratch } from "../sync/lib.mjs";
import { backend, kitbag, newBucket, servers } from "./lib.mjs";
import { KEYS } from "./servers.mjs";

const env = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  AWS_ENDPOINT_URL: servers.ceph,
  AWS_REGION: "us-east-1",
};

let command;
before(async () => {
  command = await installed();
});
after(() => {
  command?.remove();
  cleared();
});

test("a folder, and a bucket of Ceph", { timeout: 1_500_000 }, async (t) => {
  const bucket = await newBucket(servers.ceph);
  const folder = scratch();
  const begin = () => command.begin(["sync", folder, `s3://${bucket}`], { env, stdio: "ignore" });
  const a = new kitbag.FilesystemBackend({ rootDir: folder });
  const b = backend(servers.ceph, bucket);
  t.diagnostic(JSON.stringify(await killedAgain({ a, folder, b, begin })));
});
