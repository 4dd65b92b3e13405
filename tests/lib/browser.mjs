// Headless Chromium with a server for its pages. Pages are given as `{ path: [type, body] }`.

import { createServer } from "node:http";
import { chromium } from "playwright-core";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
];

/** A server on loopback for a record of path to `[type, body]`. */
export async function serve(files) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const found = files[pathname];
    if (!found) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": found[0] }).end(found[1]);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** A running Chromium. */
export function launch() {
  return chromium.launch({ executablePath: process.env.KITBAG_CHROMIUM, args: ARGS });
}

/**
 * Opens a page whose script sets `globalThis.done` to a promise; gives what that resolves to.
 * What the page logs as an error, or throws, is an error here.
 */
export async function resultOf(browser, address) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(`${error}`));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  try {
    await page.goto(address);
    await page.waitForFunction(() => "done" in globalThis, undefined, { timeout: 20_000 });
    const value = await page.evaluate(() => globalThis.done);
    if (errors.length > 0) throw new Error(errors.join("\n"));
    return value;
  } catch (error) {
    throw new Error(`${error.message}\n${errors.join("\n")}`, { cause: error });
  } finally {
    await page.close();
  }
}

/** The smallest page with one module script. */
export const pageOf = (script = "/page.js") =>
  `<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,"><script type="module" src="${script}"></script>`;
