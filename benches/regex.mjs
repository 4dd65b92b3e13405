// How fast expressions without a literal are searched, in Node and in Chromium, without and with
// the full parser, and what that adds to a page.

import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { at } from "../scripts/lib/paths.mjs";
import { launch } from "../tests/browser/lib/browsers.mjs";
import { serve } from "../tests/browser/lib/server.mjs";
import { speeds } from "./lib/regex-cases.mjs";

async function inChromium() {
  const server = await serve({ mounts: { "/bench/": at("benches/lib") } });
  const browser = await launch("chromium");
  try {
    const page = await browser.page(`${server.origin}/pages/blank.html`);
    return await page.call("/bench/regex-cases.mjs", "inPage");
  } finally {
    await browser.close();
    await server.close();
  }
}

const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
const shown = ({ speed }) => (speed === undefined ? "refused" : speed.toFixed(0));

export default {
  title: "Regular expressions: MB/s",
  needs: ["build", "chromium"],
  async run({ print }) {
    const node = speeds(await import("../pkg/dist/node.js"));
    const { light, full } = await inChromium();
    print("| expression | Node | Chromium | Chromium, `kitbag/regex` |");
    print("|---|---:|---:|---:|");
    for (const [row, { pattern }] of node.entries()) {
      const cells = [node, light, full].map((all) => shown(all[row])).join(" | ");
      print(`| \`${pattern.replaceAll("|", "\\|")}\` | ${cells} |`);
    }
    for (const [name, what] of [
      ["kitbag", "with the light parser"],
      ["regex", "what `kitbag/regex` adds"],
    ]) {
      const wasm = readFileSync(at(`pkg/dist/wasm/${name}.wasm`));
      const sizes = [wasm.length, gzipSync(wasm, { level: 9 }).length];
      print(
        `\n${name}.wasm, ${what}: ${sizes.map(kib).join(", gzip ")}, brotli ${kib(brotliCompressSync(wasm).length)}`,
      );
    }
  },
};
