// kitbag/just-bash over S3Backend, on a real object gateway: every command of the script waits for
// the network many times.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompositeBackend, createFileTools, S3Backend, StateBackend, withPolicy } from "kitbag";
import { bashExecute, withBash } from "kitbag/just-bash";
import { KEYS, makeBucket } from "../s3/servers.mjs";
import { scriptFaults } from "./bash-script.mjs";

const endpoint = process.env.KITBAG_TEST_CEPH;
const bucket = `kitbag-bash-${process.pid}`;
await makeBucket(endpoint, bucket);

const s3 = (prefix) =>
  new S3Backend({ endpoint, region: "us-east-1", bucket, prefix, credentials: KEYS });

test("thirty commands over S3Backend", { timeout: 120_000 }, async () => {
  const backend = s3("plain");
  assert.deepEqual(await scriptFaults(backend, bashExecute(backend)), []);
  // A second backend on the same bucket sees what the shell left.
  const other = await s3("plain").read("/w/docs/sum.txt");
  assert.equal(other.content, "6\n");
});

test("thirty commands over a composite and a policy round it", { timeout: 120_000 }, async () => {
  const backend = withPolicy(new CompositeBackend(new StateBackend(), { "/w/": s3("mounted") }), {
    quota: { maxBytes: 10_000_000 },
    readOnlyPrefixes: ["/protected"],
  });
  assert.deepEqual(await scriptFaults(backend, bashExecute(backend)), []);
});

test("two shells and the tools at once, on one bucket", { timeout: 120_000 }, async () => {
  const backends = [s3("one"), s3("two")];
  const runs = backends.map((backend) => scriptFaults(backend, bashExecute(backend)));
  const files = createFileTools(withBash(s3("three")));
  const said = [];
  for (const command of ["echo a b > /f", "sed -i 's/a/c/' /f", "cat /f | tr ' ' '\\n'"]) {
    said.push((await files.call("execute", { command })).text);
  }
  const read = await files.call("read_file", { file_path: "/f" });
  assert.match(said[2], /^c\nb\n\[exit code 0\]/);
  assert.match(read.text, /1\tc b/);
  assert.deepEqual(await Promise.all(runs), [[], []]);
});

test("a pipeline whose reader ends early does not wait for ever", {
  timeout: 120_000,
}, async () => {
  const execute = bashExecute(s3("pipes"));
  await execute("seq 1 5000 > /n");
  const ran = await execute("cat /n | head -n 2; cat /n | grep -q 7 && echo seven");
  assert.equal(ran.output, "1\n2\nseven\n");
  const late = await execute("while true; do cat /n > /m; done", { timeoutMs: 1_500 });
  assert.equal(late.exitCode, 124);
  assert.equal((await execute("wc -l < /n | tr -d ' '")).output, "5000\n");
});
