// The drivers in a page of Chromium.

import { at } from "../../../scripts/lib/paths.mjs";
import { launch, pageOf, serve } from "../../lib/browser.mjs";
import { pageScript } from "../../lib/bundle.mjs";
import { withoutBuiltins } from "./builtins.mjs";
import { frameworks } from "./frameworks.mjs";

/** Milliseconds; the bundle is of 12 MB, and the machine may be busy. */
const PATIENCE = 120_000;

/** A page that holds all drivers: `{ play(name), errors, stop }`. */
export async function openPage() {
  const script = await pageScript('import "./in-page.mjs"', at("tests/tools/hosts"), {
    plugins: [frameworks, withoutBuiltins],
    inject: [at("tests/tools/hosts/buffer.mjs")],
    // picomatch, which deepagents uses, asks what the host is.
    define: { "process.platform": '"browser"', "process.version": '""' },
  });
  const server = await serve({
    "/": ["text/html", pageOf()],
    "/page.js": ["text/javascript", script],
  });
  const browser = await launch();
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(`${error.stack ?? error}`));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  const stop = async () => {
    await browser.close();
    await server.stop();
  };
  try {
    await page.goto(server.origin, { timeout: PATIENCE });
    await page.waitForFunction("globalThis.ready", undefined, { timeout: PATIENCE });
  } catch (error) {
    await stop();
    throw new Error(`${error.message}\n${errors.join("\n")}`, { cause: error });
  }
  return { errors, stop, play: (name) => page.evaluate((one) => globalThis.play(one), name) };
}
