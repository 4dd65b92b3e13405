// The Worker that the tests run in workerd: the shared suite on an R2 binding or an S3 server,
// and what is special to the binding. It answers with JSON.

import { R2Backend, S3Backend } from "kitbag-under-test";
import { runConformance } from "kitbag-under-test/conformance";

let turn = 0;

async function suite(make, longest) {
  const under = ({ writeMode }) => {
    turn += 1;
    return make(`case ${turn}/+`, writeMode);
  };
  return [
    await runConformance(under, { except: { [longest]: "needs every byte of a key" } }),
    await runConformance(() => make(""), { only: [longest] }),
  ];
}

async function edits(make) {
  const clients = Array.from({ length: 8 }, () => make());
  const first = await clients[0].write("/log.txt", "end");
  if (first.error) throw new Error(first.error);
  await Promise.all(
    clients.map(async (client, who) => {
      for (let at = 0; at < 50; at++) {
        const { error } = await client.edit("/log.txt", "end", `${who}.${at}\nend`);
        if (error) throw new Error(error);
      }
    }),
  );
  const { content } = await clients[0].read("/log.txt", 0, 1000);
  return content.trimEnd().split("\n").length;
}

async function creates(make) {
  const clients = Array.from({ length: 16 }, () => make());
  const answers = await Promise.all(clients.map((client) => client.write("/race.txt", "x")));
  return answers.filter(({ error }) => error === undefined).length;
}

async function many(make) {
  const s3 = make();
  const files = Array.from({ length: 1203 }, (_, at) => [`/many/${at}.txt`, new Uint8Array([at])]);
  const uploads = await s3.uploadFiles(files);
  const listed = await s3.glob("many/*");
  const gone = await s3.delete("/many");
  const left = await s3.glob("**");
  return {
    uploaded: uploads.filter(({ error }) => error === null).length,
    listed: listed.files?.length,
    gone: gone.error,
    left: left.files?.length,
  };
}

async function names(make, keys) {
  const s3 = make();
  const wrong = [];
  for (const key of keys) {
    const written = await s3.write(`/d/${key}`, key);
    const read = await s3.read(`/d/${key}`);
    if (written.error || read.content !== key) wrong.push([key, written.error ?? read.error]);
  }
  const listed = await s3.glob("d/**");
  return { wrong, listed: listed.files?.length };
}

export default {
  async fetch(request, env) {
    const { what, s3, keys } = await request.json();
    const make = s3
      ? (prefix = "", writeMode) => new S3Backend({ ...s3, prefix, writeMode })
      : (prefix = what, writeMode) => new R2Backend({ bucket: env.BUCKET, prefix, writeMode });
    try {
      const run = { suite, edits, creates, many, names }[what];
      return Response.json(await run(make, keys));
    } catch (error) {
      return Response.json({ threw: String(error?.stack ?? error) });
    }
  },
};
