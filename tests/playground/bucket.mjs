// A bucket whose address is typed in: a server of the S3 API in memory, with CORS permission.

import { strict as assert } from "node:assert";
import { createServer, request } from "node:http";
import { startQuick } from "../s3/quick.mjs";
import { view } from "./steps.mjs";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, PUT, POST, DELETE",
  "access-control-allow-headers": "*, authorization",
  "access-control-expose-headers":
    "ETag, Last-Modified, Content-Range, Retry-After, x-amz-meta-kitbag",
};

async function withCors(endpoint) {
  const server = createServer((incoming, outgoing) => {
    if (incoming.method === "OPTIONS") return void outgoing.writeHead(204, CORS).end();
    const { method, headers, url } = incoming;
    const onward = request(endpoint + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, { ...answer.headers, ...CORS });
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://localhost:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function mountsBucket(tab, trouble) {
  const s3 = await startQuick();
  const proxy = await withCors(s3.endpoint);
  try {
    await view(tab, "#/files");
    await tab.page.getByRole("button", { name: "S3 bucket" }).click();
    await tab.page.fill("input[name=endpoint]", proxy.address);
    await tab.page.fill("input[name=bucket]", "files");
    await tab.page.fill("input[name=key]", "key");
    await tab.page.fill("input[name=secret]", "secret");
    await tab.page.getByRole("button", { name: "Mount at /s3" }).click();
    await tab.until(() => document.querySelector('[data-path="/s3"]'));
    await tab.page.getByRole("button", { name: "New" }).click();
    await tab.page.fill(".new-file input", "/s3/notes.md");
    await tab.page.getByRole("button", { name: "Create" }).click();
    await tab.until(() => document.querySelector(".file-head h1")?.textContent === "/s3/notes.md");
    await tab.until(() => document.querySelector(".cm-content"));
    await tab.click(".cm-content");
    await tab.insert("from the page\n");
    await tab.click("[data-do=save]");
    await tab.until(() =>
      /^saved$/.test(document.querySelector(".file-head [role=status]").textContent),
    );
    const stored = await fetch(`${s3.endpoint}/files/notes.md`);
    assert.equal(await stored.text(), "from the page\n");
    await view(tab, "#/files");
    await tab.page.getByRole("button", { name: "Unmount" }).click();
    await tab.until(() => !document.querySelector('[data-path="/s3"]'));
    const asked = trouble.filter((line) => line.startsWith(`asked for ${proxy.address}`));
    assert.ok(asked.length > 0);
    // A browser reports each answer 404, as for a file that is about to be created.
    const missing = trouble.filter((line) => /status of 404/.test(line));
    for (const line of [...asked, ...missing]) trouble.splice(trouble.indexOf(line), 1);
  } finally {
    await proxy.close();
    await s3.stop();
  }
}
