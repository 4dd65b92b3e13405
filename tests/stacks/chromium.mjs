// Chromium as these tests use it.

import { chromium as driver } from "playwright-core";

/** A browser with an empty profile. */
export async function chromium() {
  const executablePath = process.env.KITBAG_CHROMIUM ?? "/usr/bin/chromium";
  const browser = await driver.launch({
    executablePath,
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const context = await browser.newContext();
  return { newPage: () => context.newPage(), close: () => browser.close() };
}
