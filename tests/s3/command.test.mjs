// The command `kitbag` of the packed package against a real object gateway: a copy of many files that
// is killed half-way and goes on, compared by the checksums that the server lists; and a search.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installed } from "../command/lib.mjs";
import { newBucket, servers } from "./lib.mjs";
import { KEYS } from "./servers.mjs";
import { signed } from "./sign.mjs";

/** In a hundred directories; `npm run soak -- s3-hosts` copies 10,000. */
const FILES = Number(process.env.KITBAG_COPIED ?? 2_000);
/** Two batches of 64 files are copied at the same time, the files of a batch in any order. */
const IN_FLIGHT = 2 * 64;
const endpoint = servers.ceph;
const env = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  AWS_ENDPOINT_URL: endpoint,
};
const folder = mkdtempSync(join(tmpdir(), "kitbag-many-"));
const sums = new Map();
let kitbag;
let bucket;

before(async () => {
  for (let directory = 0; directory < 100; directory++) {
    const place = `d${String(directory).padStart(2, "0")}`;
    mkdirSync(join(folder, place));
    for (let at = 0; at < FILES / 100; at++) {
      const name = `${place}/${at}.txt`;
      const content = `file ${name}\n${at % 10 === 0 ? `needle ${directory}\n` : "hay\n"}`;
      writeFileSync(join(folder, name), content);
      sums.set(name, createHash("md5").update(content).digest("hex"));
    }
  }
  [kitbag, bucket] = await Promise.all([installed(), newBucket(endpoint)]);
});
after(() => {
  kitbag?.remove();
  rmSync(folder, { recursive: true });
});

/** Names and checksums of one page of the server's listing. */
async function page(from, most = 1000) {
  const query = `list-type=2&max-keys=${most}&prefix=copy%2F&start-after=${encodeURIComponent(from)}`;
  const response = await signed(KEYS, { method: "GET", url: `${endpoint}/${bucket}?${query}` });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return [...text.matchAll(/<Contents>.*?<Key>copy\/(.*?)<\/Key>.*?<ETag>(?:"|&quot;)(\w+)/gs)].map(
    ([, name, sum]) => [name, sum],
  );
}

async function listed() {
  const all = new Map();
  for (let from = "copy/"; ; ) {
    const found = await page(from);
    for (const [name, sum] of found) all.set(name, sum);
    if (found.length < 1000) return all;
    from = `copy/${found.at(-1)[0]}`;
  }
}

test(`${FILES} files: killed half-way, the copy goes on, and the trees are equal`, async () => {
  const address = `s3://${bucket}/copy`;
  const child = kitbag.begin(["cp", folder, address], { env, stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("close", (_, signal) => resolve(signal)));
  // Batches are copied in the order of their names. Before the first one, a test object is written.
  const begun = async () => (await page("copy/d40/", 3)).some(([name]) => name.startsWith("d"));
  while (!(await begun())) assert.equal(child.exitCode, null);
  child.kill("SIGKILL");
  assert.equal(await gone, "SIGKILL");
  const half = await listed();
  assert.ok(
    half.size > 0.4 * FILES - IN_FLIGHT && half.size < FILES,
    `${half.size} when it was killed`,
  );
  for (const [name, sum] of half) assert.equal(sum, sums.get(name), `${name} is whole`);
  const { code, out, err } = await kitbag.run(["cp", "--json", folder, address], { env });
  assert.equal(code, 0, err);
  const result = JSON.parse(out);
  assert.ok(result.equal >= half.size, `${result.equal} equal of ${half.size}`);
  assert.equal(result.equal + result.copied, FILES);
  assert.deepEqual(await listed(), sums);
});

test("grep over the bucket prints ripgrep's lines", async () => {
  const address = `s3://${bucket}/copy`;
  const { code, out, err } = await kitbag.run(
    ["grep", "-g", "d[0-1]*/*.txt", "^needle \\d$", address],
    {
      env,
    },
  );
  assert.deepEqual([code, err], [0, ""]);
  const args = ["-uu", "-n", "--no-heading", "--sort", "path", "-g", "d[0-1]*/*.txt"];
  const shown = execFileSync(process.env.KITBAG_RG, [...args, "^needle \\d$"], {
    cwd: folder,
    encoding: "utf8",
    // Not a pipe, which it would search.
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.equal(out, shown);
  assert.equal(out.split("\n").length, FILES / 100 + 1);
});

test("a refused key is an error without the key in it", async () => {
  const wrong = { ...env, AWS_SECRET_ACCESS_KEY: "not-the-right-secret" };
  const { code, err } = await kitbag.run(["ls", `s3://${bucket}`], { env: wrong });
  assert.equal(code, 2);
  assert.match(err, /403|denied|Signature/i);
  assert.doesNotMatch(err, /not-the-right-secret/);
});
