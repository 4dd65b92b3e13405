// What the Chromium test runs in its page.

import { S3Backend } from "kitbag-under-test";
import { runConformance } from "kitbag-under-test/conformance";

let turn = 0;

globalThis.suite = async (options, longest) => {
  const under = ({ writeMode }) => {
    turn += 1;
    return new S3Backend({ ...options, writeMode, prefix: `case ${turn}/+` });
  };
  return [
    await runConformance(under, { except: { [longest]: "needs every byte of a key" } }),
    await runConformance(() => new S3Backend(options), { only: [longest] }),
  ];
};

globalThis.edits = async (options) => {
  const clients = Array.from({ length: 8 }, () => new S3Backend(options));
  await clients[0].write("/log.txt", "end");
  const errors = [];
  await Promise.all(
    clients.map(async (client, who) => {
      for (let at = 0; at < 50; at++) {
        const { error } = await client.edit("/log.txt", "end", `${who}.${at}\nend`);
        if (error) errors.push(error);
      }
    }),
  );
  const { content } = await clients[0].read("/log.txt", 0, 1000);
  return { errors, lines: content.trimEnd().split("\n").length };
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
