// Tabs of Chromium and Firefox with the same few functions, as a person would use them.

import { chromium } from "playwright-core";

const CHROMIUM = process.env.KITBAG_CHROMIUM ?? "/usr/bin/chromium";
const FIREFOX = process.env.KITBAG_FIREFOX ?? "/usr/bin/firefox-esr";
const PATIENCE = 20_000;
/** What a page works on may take longer, on a busy machine too. */
const LONGEST = 120_000;

/** The answer of a page, or an error that says to what there is none. */
async function answered(answer, fn) {
  let timer;
  const late = new Promise((_, reject) => {
    const what = String(fn).slice(0, 200);
    const silent = () => reject(new Error(`the page did not answer within ${LONGEST} ms: ${what}`));
    timer = setTimeout(silent, LONGEST);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What was asked from elsewhere, or went wrong, is collected in `trouble`. */
function watched(page, origin, trouble) {
  page.on("pageerror", (error) => trouble.push(`${error.stack ?? error}`));
  page.on("console", (message) => {
    if (message.type() === "error") trouble.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (/^https?:/.test(url) && !url.startsWith(origin)) trouble.push(`asked for ${url}`);
  });
}

export async function openChromium(address, trouble) {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const { origin } = new URL(address);
  const within = (context) => ({
    context,
    async tab(hash = "", prepare) {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      watched(page, origin, trouble);
      if (prepare) await page.addInitScript(prepare);
      await page.goto(address + hash);
      return {
        page,
        eval: (fn, argument) => answered(page.evaluate(fn, argument), fn),
        until: (fn, argument, timeout = PATIENCE) =>
          page.waitForFunction(fn, argument, { timeout }),
        click: (selector) => page.click(selector),
        choose: (selector, value) => page.selectOption(selector, value),
        press: (key) => page.keyboard.press(key),
        insert: (text) => page.keyboard.insertText(text),
        upload: (selector, ...paths) => page.setInputFiles(selector, paths),
        type: (text) => page.keyboard.type(text),
        reload: () => page.reload(),
        close: () => page.close(),
      };
    },
  });
  return {
    name: "chromium",
    profile: async (options) => within(await browser.newContext(options)),
    close: () => browser.close(),
  };
}

export async function openFirefox(address, trouble) {
  const { default: puppeteer } = await import("puppeteer-core");
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: FIREFOX,
    headless: true,
    protocolTimeout: 120_000,
  });
  const { origin } = new URL(address);
  const within = (context) => ({
    context,
    async tab(hash = "") {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      watched(page, origin, trouble);
      await page.goto(address + hash);
      return {
        page,
        eval: (fn, argument) => answered(page.evaluate(fn, argument), fn),
        until: (fn, argument, timeout = PATIENCE) =>
          page.waitForFunction(fn, { timeout, polling: 50 }, argument),
        click: async (selector) =>
          (await page.waitForSelector(selector, { visible: true })).click(),
        choose: (selector, value) => page.select(selector, value),
        press: async (key) => {
          const keys = key.split("+");
          for (const one of keys) await page.keyboard.down(one);
          for (const one of keys.reverse()) await page.keyboard.up(one);
        },
        insert: (text) =>
          page.evaluate((it) => document.execCommand("insertText", false, it), text),
        upload: async (selector, ...paths) => (await page.$(selector)).uploadFile(...paths),
        type: (text) => page.keyboard.type(text),
        reload: () => page.reload(),
        close: () => page.close(),
      };
    },
  });
  return {
    name: "firefox",
    profile: async () => within(await browser.createBrowserContext()),
    close: () => browser.close(),
  };
}
