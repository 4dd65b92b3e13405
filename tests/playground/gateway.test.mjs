// A bucket of a real S3 server, mounted in the playground by typing its address: Chromium asks it
// across origins.

import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { builtWww } from "../../scripts/lib/www.mjs";
import { backend, newBucket, servers } from "../s3/lib.mjs";
import { allowPages, KEYS } from "../s3/servers.mjs";
import { serveFolder } from "./server.mjs";
import { retype, view } from "./steps.mjs";
import { openChromium } from "./tabs.mjs";

let site;
let browser;

before(async () => {
  site = await serveFolder(await builtWww());
  browser = await openChromium(site.address, []);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

async function mount(tab, fields) {
  await view(tab, "#/files");
  await tab.page.getByRole("button", { name: "S3 bucket" }).click();
  for (const [name, value] of Object.entries(fields)) {
    await tab.page.fill(`input[name=${name}]`, value);
  }
  await tab.page.getByRole("button", { name: "Mount at /s3" }).click();
}

/** A bucket that the page may ask, with a file, and a page that has mounted nothing yet. */
async function bucketWith(path, text) {
  const endpoint = servers.ceph;
  const bucket = await newBucket(endpoint);
  await allowPages(endpoint, bucket, new URL(site.address).origin);
  const files = backend(endpoint, bucket);
  assert.equal((await files.write(path, text)).error, undefined);
  const profile = await browser.profile();
  const tab = await profile.tab("#/files");
  const { accessKeyId: key, secretAccessKey: secret } = KEYS;
  return { endpoint, files, profile, tab, fields: { endpoint, bucket, key, secret } };
}

test("a bucket of Ceph is mounted, and a file is written, read and deleted in it", async () => {
  const { files, profile, tab, fields } = await bucketWith("/src/main.ts", "const a = 1;\n");
  await mount(tab, { ...fields, secret: "no-such-secret" });
  await tab.until(() => document.querySelector(".s3 [role=alert]"));
  assert.ok(!(await tab.page.locator(".s3 [role=alert]").innerText()).includes("no-such-secret"));
  await tab.page.fill("input[name=secret]", fields.secret);
  await tab.page.getByRole("button", { name: "Mount at /s3" }).click();
  await tab.click('[data-path="/s3/src"]');
  await tab.click('[data-path="/s3/src/main.ts"]');
  await tab.until(() => document.querySelector(".cm-content")?.textContent === "const a = 1;");
  await retype(tab, "const a = 2;\n");
  await tab.click("[data-do=save]");
  await tab.until(() => document.querySelector(".file-head [role=status]").textContent === "saved");
  assert.equal((await files.read("/src/main.ts")).content, "const a = 2;\n");
  await tab.click("[aria-label='Delete /s3/src/main.ts']");
  await tab.until(() => document.querySelector(".overview"));
  assert.equal((await files.read("/src/main.ts")).code, "not_found");
  await tab.page.getByRole("button", { name: "Unmount" }).click();
  await tab.until(() => !document.querySelector('[data-path="/s3"]'));
  await profile.context.close();
});

test("what is typed while a file is read again stays", async () => {
  const { endpoint, files, profile, tab, fields } = await bucketWith("/note.txt", "before\n");
  await mount(tab, fields);
  await tab.click('[data-path="/s3/note.txt"]');
  await tab.until(() => document.querySelector(".cm-content")?.textContent === "before");
  let [held, answered] = [0, 0];
  let go;
  const gate = new Promise((resolve) => {
    go = resolve;
  });
  await tab.page.route(`${endpoint}/**`, async (route) => {
    held += 1;
    await gate;
    await route.continue();
  });
  tab.page.on("requestfinished", (request) => {
    if (request.url().startsWith(endpoint)) answered += 1;
  });
  const until = async (is) => {
    while (!is()) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  // Another tab changes a file, so this one reads its own again.
  const other = await profile.tab("#/files");
  await other.until(() => document.querySelector("[data-do=raise-100]"));
  await other.eval(() => document.querySelector("[data-do=raise-100]").click());
  await until(() => held > 0);
  await tab.page.bringToFront();
  await retype(tab, "typed meanwhile\n");
  go();
  await until(() => answered >= held);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal(await tab.page.locator(".cm-content").textContent(), "typed meanwhile");
  await tab.click("[data-do=save]");
  await tab.until(() => document.querySelector(".file-head [role=status]").textContent === "saved");
  assert.equal((await files.read("/note.txt")).content, "typed meanwhile\n");
  await profile.context.close();
});

test("a bucket that does not allow the page is refused in words that name CORS", async () => {
  const endpoint = servers.ceph;
  const bucket = await newBucket(endpoint);
  const profile = await browser.profile();
  const tab = await profile.tab("#/files");
  const { accessKeyId: key, secretAccessKey: secret } = KEYS;
  await mount(tab, { endpoint, bucket, key, secret });
  await tab.until(() => document.querySelector(".s3 [role=alert]"));
  assert.match(await tab.page.locator(".s3 [role=alert]").innerText(), /CORS/);
  await profile.context.close();
});
