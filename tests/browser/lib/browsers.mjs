// Chromium, Firefox and WebKit behind one small face: pages of one profile, and functions of a
// module run in them. A browser that is not on the machine is an error that says so.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const CHROMIUM = process.env.KITBAG_CHROMIUM ?? "/usr/bin/chromium";
const FIREFOX = process.env.KITBAG_FIREFOX ?? "/usr/bin/firefox-esr";
const WEBKIT_DRIVER = process.env.KITBAG_WEBKITDRIVER ?? "/usr/bin/WebKitWebDriver";
const MINI_BROWSER =
  process.env.KITBAG_MINIBROWSER ?? "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  // Tabs that are not in front must not be slowed down: they are the other writers.
  "--disable-background-timer-throttling",
  "--disable-renderer-backgrounding",
  "--disable-backgrounding-occluded-windows",
];

export const BROWSERS = ["chromium", "firefox", "webkit"];

function present(path, what) {
  if (existsSync(path)) return;
  throw new Error(`${what} is not on this machine (${path}); install it, these tests need it`);
}

/** Calls `name` of the module at `url` with `argument`, inside a page. */
const CALL = "async ([url, name, argument]) => (await import(url))[name](argument)";

/** Starts a browser. `profile` is a folder that outlives it; a fresh one otherwise. */
export async function launch(name, { profile } = {}) {
  const folder = profile ?? (await mkdtemp(join(tmpdir(), `kitbag-${name}-`)));
  const browser = await { chromium, firefox, webkit }[name](folder);
  const close = browser.close;
  browser.name = name;
  browser.close = async () => {
    await close();
    if (!profile) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return browser;
}

/** Calls functions of a module by their names, each in a page that `fresh` opens for it. */
export function inPages(fresh, module) {
  return async (name, argument) => {
    const page = await fresh();
    try {
      return await page.call(module, name, argument);
    } finally {
      await page.close();
    }
  };
}

async function chromium(folder) {
  present(CHROMIUM, "Chromium");
  const { chromium: driver } = await import("playwright-core");
  const context = await driver.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    headless: true,
    args: CHROMIUM_ARGS,
  });
  return {
    context,
    async page(url) {
      const page = await context.newPage();
      await page.goto(url);
      return {
        call: (module, name, argument) =>
          page.evaluate(`(${CALL})(${JSON.stringify([module, name, argument ?? null])})`),
        protocol: () => context.newCDPSession(page),
        reload: () => page.reload(),
        close: () => page.close(),
      };
    },
    close: () => context.close(),
  };
}

async function firefox(folder) {
  present(FIREFOX, "Firefox");
  const { default: puppeteer } = await import("puppeteer-core");
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: FIREFOX,
    headless: true,
    userDataDir: folder,
    // Nobody is there to answer a question about persistent storage.
    extraPrefsFirefox: {
      "dom.storageManager.prompt.testing": true,
      "dom.storageManager.prompt.testing.allow": true,
      // Tabs that are not in front must not be slowed down: they are the other writers.
      "dom.min_background_timeout_value": 4,
      "dom.min_background_timeout_value_without_budget_throttling": 4,
      "dom.timeout.enable_budget_timer_throttling": false,
      "dom.ipc.processPriorityManager.enabled": false,
    },
    protocolTimeout: 300_000,
  });
  // Firefox opens a page next to another one, which must not be closed in that moment.
  let turn = Promise.resolve();
  const inTurn = (act) => {
    const answer = turn.then(act);
    turn = answer.catch(() => {});
    return answer;
  };
  return {
    async page(url) {
      const page = await inTurn(() => browser.newPage());
      await page.goto(url);
      return {
        call: (module, name, argument) =>
          page.evaluate(`(${CALL})(${JSON.stringify([module, name, argument ?? null])})`),
        reload: () => page.reload(),
        close: () => inTurn(() => page.close()),
      };
    },
    close: () => browser.close(),
  };
}

/** Chromium with nobody at its wheel: it opens a page, and is killed as a whole. */
export function bareChromium({ profile, url }) {
  present(CHROMIUM, "Chromium");
  const args = ["--headless", ...CHROMIUM_ARGS, `--user-data-dir=${profile}`, url];
  const child = spawn(CHROMIUM, args, { stdio: "ignore", detached: true });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return {
    kill: async () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
      await ended;
    },
  };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The process of a page ended, as by a fault of the browser itself. */
export class PageEnded extends Error {}

/** What WebKit's driver answers to a call whose page's process ended: before it, and during it. */
const ENDED = /session deleted because of page crash|Could not parse script result/;

async function webkit(folder) {
  present(WEBKIT_DRIVER, "WebKitWebDriver");
  present(MINI_BROWSER, "WebKit's MiniBrowser");
  const port = await freePort();
  const env = {
    ...process.env,
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
    // Each run has a profile of its own.
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CACHE_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  const driver = spawn(
    process.env.KITBAG_XVFB_RUN ?? "xvfb-run",
    ["-a", WEBKIT_DRIVER, "--host=127.0.0.1", `--port=${port}`],
    {
      env,
      stdio: "ignore",
      detached: true,
    },
  );
  const ask = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const { value } = await response.json();
    if (response.ok) return value;
    const Kind = ENDED.test(value?.message) ? PageEnded : Error;
    throw new Kind(`WebKit: ${value?.error}: ${value?.message}`);
  };
  const stop = async () => {
    if (driver.exitCode === null) process.kill(-driver.pid, "SIGTERM");
    await new Promise((resolve) => {
      if (driver.exitCode !== null || driver.signalCode !== null) resolve();
      else driver.once("exit", resolve);
    });
  };
  try {
    for (let tries = 0; ; tries++) {
      try {
        await ask("GET", "/status");
        break;
      } catch (error) {
        if (tries > 200) throw error;
        await wait(50);
      }
    }
    const { sessionId } = await ask("POST", "/session", {
      capabilities: {
        alwaysMatch: {
          browserName: "MiniBrowser",
          "webkitgtk:browserOptions": { binary: MINI_BROWSER, args: ["--automation"] },
        },
      },
    });
    const at = `/session/${sessionId}`;
    await ask("POST", `${at}/timeouts`, { script: 300_000 });
    const [first] = await ask("GET", `${at}/window/handles`);
    let free = first;
    // One window is in front at a time, so what is done to windows is done in turn.
    let turn = Promise.resolve();
    const inWindow = (handle, act) => {
      const answer = turn.then(async () => {
        await ask("POST", `${at}/window`, { handle });
        return act();
      });
      turn = answer.catch(() => {});
      return answer;
    };
    const run = (handle, script, args) =>
      inWindow(handle, () => ask("POST", `${at}/execute/sync`, { script, args }));
    let calls = 0;
    return {
      async page(url) {
        const open = () => ask("POST", `${at}/window/new`, { type: "tab" });
        // A new one is opened from the first, which stays; the one in front may be closed by now.
        const handle = free ?? (await inWindow(first, open)).handle;
        free = undefined;
        await inWindow(handle, () => ask("POST", `${at}/url`, { url }));
        return {
          // Started in one step and asked after in others, so that many pages run at once.
          async call(module, name, argument) {
            const key = `__answer${++calls}`;
            await run(
              handle,
              `const key = arguments[0];
               (${CALL})(arguments[1]).then(
                 (value) => { window[key] = { value: value ?? null }; },
                 (error) => { window[key] = { error: String(error?.stack ?? error) + " " + String(error) }; });`,
              [key, [module, name, argument ?? null]],
            );
            for (;;) {
              const answer = await run(handle, "return window[arguments[0]] ?? null;", [key]);
              if (answer?.error) throw new Error(answer.error);
              if (answer) return answer.value;
              await wait(20);
            }
          },
          reload: () => inWindow(handle, () => ask("POST", `${at}/refresh`, {})),
          close: () => inWindow(handle, () => ask("DELETE", `${at}/window`)),
        };
      },
      async close() {
        await ask("DELETE", at).catch(() => {});
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
