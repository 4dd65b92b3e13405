#!/usr/bin/env node
// `kitbag COMMAND …`: looks at, searches, copies, compares, syncs and serves the files of any backend that
// an address names.

import { parseArgs } from "node:util";
import { LocalShellBackend } from "kitbag";
import { nodeShell } from "kitbag/node";
import { instead } from "../core/nearest.js";
import { ADDRESSES } from "./command/address.js";
import { cat, du, grep, ls } from "./command/commands.js";
import { completion } from "./command/completion.js";
import { serveTree } from "./command/files.js";
import { addressFlags, choice, type Line } from "./command/line.js";
import { CommandError, chooseColours, tell } from "./command/output.js";
import { serveHttp, serveStdio, version } from "./command/serve.js";
import { openServed, type ServedFolder } from "./command/served.js";
import { syncTrees } from "./command/sync.js";
import { COMMANDS, type CommandName, help, isCommand, overview, parsed } from "./command/table.js";
import { cp, diff } from "./command/trees.js";

/** What runs each command; its flags are in the table. */
const RUN: Record<CommandName, (line: Line) => Promise<number>> = {
  ls,
  cat,
  grep,
  cp,
  diff,
  sync: syncTrees,
  du,
  serve,
  completion: async ({ words }) => {
    console.log(completion(words.length > 1 ? undefined : words[0]));
    return 0;
  },
};

const SERVE = "npx -p kitbag -p @modelcontextprotocol/server kitbag serve ADDRESS";

async function serve({ flags, words, signal }: Line): Promise<number> {
  if (words.length === 0) throw new CommandError(`an address is needed\n\n${help("serve")}`);
  const list = (name: string) => (flags[name] ?? []) as string[];
  const port = flags.http === undefined ? undefined : Number(flags.http);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536)) {
    throw new CommandError("--http takes the number of a port; 0 takes any free one");
  }
  const webdav = flags.webdav === true;
  const isTree = webdav || flags.files === true;
  if (isTree && port === undefined) {
    throw new CommandError(`${webdav ? "--webdav" : "--files"} needs --http PORT`);
  }
  const readOnly = flags["read-only"] === true;
  const shell = flags.shell === true;
  if (shell && (readOnly || port !== undefined)) {
    const why = readOnly
      ? "--shell and --read-only exclude each other: commands can write"
      : "--shell and --http exclude each other: whoever reaches the port could run commands";
    throw new CommandError(`${why}\n\n${help("serve")}`);
  }
  const rules = {
    readOnly,
    shell,
    secrets: flags.secrets === true,
    deny: list("deny"),
    allow: list("allow"),
    structured: flags.structured === true,
  };
  const again = () => openServed(words, addressFlags(flags, !readOnly));
  const { backend: files, close, folders } = await again();
  const backend = shell ? withCommands(folders) : files;
  // Commands follow no rules about files, so they are not kept within the roots of a client.
  const rooted = folders.length > 0 && !shell && flags["ignore-roots"] !== true;
  const all = { ...rules, folders, rooted };
  if (port === undefined) {
    await serveStdio(backend, all, SERVE);
    signal.addEventListener("abort", () => process.exit(0));
    return -1;
  }
  const host = typeof flags.host === "string" ? flags.host : "127.0.0.1";
  const place = { port, host, token: process.env.KITBAG_TOKEN };
  const served = isTree
    ? await serveTree(backend, all, place, webdav)
    : await serveHttp(backend, all, place, SERVE, again);
  tell(`kitbag: serving at ${served.url}`);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  await served.close();
  await close();
  return 0;
}

function withCommands([only, ...others]: readonly ServedFolder[]): LocalShellBackend {
  if (!only || others.length > 0) throw new CommandError("--shell needs one folder as ADDRESS");
  const rootDir = only.folder;
  const { PATH = "", HOME = "" } = process.env;
  return new LocalShellBackend({ rootDir, execute: nodeShell(), env: { PATH, HOME } });
}

/** Commands that end in an orderly way when they are interrupted. */
const INTERRUPTED = ["cp", "diff", "grep", "serve", "sync"];

async function main(args: string[]): Promise<number> {
  const [name = "", ...rest] = args;
  if (name === "" || name === "--help" || name === "-h" || name === "help") {
    const [topic = ""] = rest;
    console.log(isCommand(topic) ? help(topic) : topic === "addresses" ? ADDRESSES : overview());
    return name === "" ? 2 : 0;
  }
  if (name === "--version" || name === "-V") {
    console.log(version());
    return 0;
  }
  if (!isCommand(name)) {
    throw new CommandError(
      `there is no command "${name}"; ${instead(name, Object.keys(COMMANDS), "commands")}`,
    );
  }
  let line: ReturnType<typeof parseArgs>;
  try {
    line = parseArgs({ args: rest, allowPositionals: true, options: parsed(name) });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${help(name)}`);
  }
  if (line.values.help) {
    console.log(help(name));
    return 0;
  }
  const flags = line.values as Line["flags"];
  chooseColours(choice(flags, "color", ["auto", "always", "never"]) ?? "auto");
  const stop = new AbortController();
  let signals = 0;
  // The others have nothing to finish.
  const ends = INTERRUPTED.includes(name) ? (["SIGINT", "SIGTERM"] as const) : [];
  for (const signal of ends) {
    process.on(signal, () => {
      signals += 1;
      // The second one does not wait.
      if (signals > 1) process.exit(130);
      stop.abort();
    });
  }
  const code = await RUN[name]({ flags, words: line.positionals, signal: stop.signal });
  return stop.signal.aborted && name !== "serve" ? 130 : code;
}

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (error: { code?: string }) => {
  process.exit(error.code === "EPIPE" ? 0 : 2);
});

try {
  const code = await main(process.argv.slice(2));
  if (code >= 0) process.exitCode = code;
} catch (error) {
  tell(`kitbag: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 2;
}
