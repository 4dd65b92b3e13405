// The example with Next.js: built and started as its README says, with a bucket of moto.

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { KEYS, makeBucket, startMoto } from "../s3/servers.mjs";
import { freePort, noWarning, tool, withServer, workshop } from "../stacks/lib.mjs";
import { startModel } from "./model.mjs";

let shop;
let s3;
let model;

before(async () => {
  shop = await workshop();
  s3 = await startMoto();
  await makeBucket(s3.endpoint, "agent-files");
  model = await startModel();
});

after(async () => {
  await model?.stop();
  await s3?.stop();
  shop?.remove();
});

test("the chat's agent keeps its files in the bucket", async () => {
  const folder = join(shop.root, "nextjs-s3");
  cpSync(at("examples/nextjs-s3"), folder, { recursive: true });
  const env = {
    MODEL_URL: model.url,
    MODEL_KEY: "key",
    MODEL: "scripted",
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: "us-east-1",
    S3_BUCKET: "agent-files",
    S3_ACCESS_KEY_ID: KEYS.accessKeyId,
    S3_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  };
  // A new folder has no cache of an earlier build, which Next.js mentions where `CI` is set.
  const quiet = (output) => noWarning(output, /No build cache/);
  await tool(folder, "next", ["build"], { env, quiet });
  const port = await freePort();
  const bin = join(shop.root, "node_modules/next/dist/bin/next");
  const args = [bin, "start", "-p", String(port), "-H", "127.0.0.1"];
  await withServer({ cwd: folder, args, port, env }, async (origin) => {
    const chat = async (...messages) => {
      const body = JSON.stringify({
        messages: messages.map((content) => ({ role: "user", content })),
      });
      const response = await fetch(`${origin}/api/chat`, { method: "POST", body });
      return response.json();
    };
    const file_path = "/tea.md";
    const written = await chat(`write_file ${JSON.stringify({ file_path, content: "tea\n" })}`);
    assert.equal(written.error, undefined);
    const { said } = await chat(`read_file ${JSON.stringify({ file_path })}`);
    assert.match(said, /tea/);
  });
});
