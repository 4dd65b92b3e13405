// The order of the documentation: groups of pages, each a file of `docs/` without its ending. A page
// that is named nowhere is listed under "More", so that no page can be unreachable.

import { readdirSync, readFileSync } from "node:fs";
import { at } from "../lib/paths.mjs";

/** Files of the root that are pages of the site as well. */
export const ROOT_PAGES = {
  security: "SECURITY.md",
  changelog: "CHANGELOG.md",
  contributing: "CONTRIBUTING.md",
};

/** Pages for users by what they want to do; the last group is for those who work on kitbag. */
const GROUPS = [
  ["Start", ["start", "why", "choose", "stacks", "workers", "nextjs", "csp", "migrate"]],
  [
    "Backends",
    [
      "state",
      "store",
      "indexeddb",
      "opfs",
      "s3",
      "filesystem",
      "local-shell",
      "sandbox",
      "sql",
      "context-hub",
      "custom",
      "composite",
    ],
  ],
  [
    "Files",
    [
      "persistence",
      "browser",
      "tabs",
      "concurrency",
      "undo",
      "fs",
      "server",
      "transfer",
      "sync",
      "command",
      "search-index",
    ],
  ],
  [
    "Rules",
    [
      ...["policies", "folder", "approvals", "provenance", "turns", "history"],
      ...["audit", "opentelemetry", "real-files", "security"],
    ],
  ],
  [
    "Agents and tools",
    ["tools", "prompts", "streaming", "mcp", "langgraph", "skills", "testing-agents"],
  ],
  [
    "Reference",
    ["protocol", "limits", "versions", "component", "python", "conformance", "changelog"],
  ],
  [
    "For makers",
    [
      ...["architecture", "testing", "dependencies", "performance", "scale", "sizes"],
      ...["playground", "contributing"],
    ],
  ],
];

/** Names of all pages that exist. */
export function pageNames() {
  const docs = readdirSync(at("docs")).filter((file) => file.endsWith(".md"));
  return [...docs.map((file) => file.slice(0, -3)), ...Object.keys(ROOT_PAGES)];
}

/** The file of a page. */
export const fileOf = (name) => at(ROOT_PAGES[name] ?? `docs/${name}.md`);

/** The first heading of a page. */
export function titleOf(name) {
  const heading = /^# (.+)$/m.exec(readFileSync(fileOf(name), "utf8"));
  return heading?.[1].replaceAll("`", "") ?? name;
}

/** The groups with the pages that exist: `[{ text, names }]`. */
export function groups() {
  const exist = new Set(pageNames().filter((name) => name !== "index"));
  const known = GROUPS.map(([text, names]) => ({
    text,
    names: names.filter((name) => exist.delete(name)),
  }));
  const more = exist.size > 0 ? [{ text: "More", names: [...exist].sort() }] : [];
  return [...known, ...more];
}
