// Several real tabs of one origin at once: no edit is lost, and one of many creators wins.

import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { launch } from "../lib/browsers.mjs";

const MODULE = "/pages/races.mjs";
const TABS = 4;
const CREATORS = 8;
const FILES = 5;

/** `check(name, run)` counts one test. */
export async function races({ browser: name, kind, edits, turns, server, check }) {
  const browser = await launch(name);
  try {
    const pages = [];
    for (let tab = 0; tab < CREATORS; tab++) {
      pages.push(await browser.page(`${server.origin}/pages/blank.html`));
    }
    const [first] = pages;
    await check(`${name}, ${kind}: ${TABS} tabs, ${edits} edits each, none lost`, async () => {
      const where = { kind, place: "edits" };
      await first.call(MODULE, "begin", { ...where, text: "end\n" });
      await Promise.all(
        pages
          .slice(0, TABS)
          .map((page, tab) => page.call(MODULE, "append", { ...where, tab, edits })),
      );
      const lines = (await first.call(MODULE, "content", where)).split("\n");
      const wanted = new Set();
      for (let tab = 0; tab < TABS; tab++) {
        for (let edit = 0; edit < edits; edit++) wanted.add(`tab ${tab} edit ${edit}`);
      }
      for (const line of lines) wanted.delete(line);
      strictEqual(wanted.size, 0, `lost: ${[...wanted].slice(0, 5).join(", ")}`);
      strictEqual(lines.length, TABS * edits + 2);
    });
    await check(`${name}, ${kind}: of ${CREATORS} tabs that create a file, one does`, async () => {
      const where = { kind, place: "creates" };
      const at = Date.now() + 500;
      const answers = await Promise.all(
        pages.map((page, tab) => page.call(MODULE, "create", { ...where, tab, count: FILES, at })),
      );
      const texts = await first.call(MODULE, "winners", { ...where, count: FILES });
      for (let file = 0; file < FILES; file++) {
        const codes = answers.map((answer) => answer[file]);
        strictEqual(codes.filter((code) => code === "created").length, 1, codes.join(" "));
        strictEqual(codes.filter((code) => code === "already_exists").length, CREATORS - 1);
        strictEqual(texts[file], `tab ${codes.indexOf("created")}`);
      }
    });
    await check(`${name}, ${kind}: two tabs of ${turns} turns lose nothing`, async () => {
      const where = { kind, place: "turns" };
      await first.call(MODULE, "shared", where);
      const each = await Promise.all(
        ["one", "two"].map((who, at) => pages[at].call(MODULE, "turns", { ...where, who, turns })),
      );
      deepStrictEqual(await first.call(MODULE, "wrongs", { ...where, turns }), []);
      deepStrictEqual(
        each.flatMap(({ unfounded }) => unfounded),
        [],
        "conflicts without a reason",
      );
    });
  } finally {
    await browser.close();
  }
}
