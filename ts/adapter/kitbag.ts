#!/usr/bin/env node
// `kitbag COMMAND …`: looks at, searches, copies, compares, syncs and serves the files of any backend that
// an address names.

import { parseArgs } from "node:util";
import { instead } from "../core/nearest.js";
import { ADDRESSES } from "./command/address.js";
import { cat, du, grep, ls } from "./command/commands.js";
import { completion } from "./command/completion.js";
import { choice, type Line } from "./command/line.js";
import { CommandError, chooseColours, tell, version } from "./command/output.js";
import { COMMANDS, type CommandName, help, isCommand, overview, parsed } from "./command/table.js";

/**
 * What runs each command; its flags are in the table. What only some need is loaded with them: an import
 * of `node:http` alone takes Node 24 as long as a listing.
 */
const RUN: Record<CommandName, (line: Line) => Promise<number>> = {
  ls,
  cat,
  grep,
  du,
  cp: async (line) => (await import("./command/trees.js")).cp(line),
  diff: async (line) => (await import("./command/trees.js")).diff(line),
  sync: async (line) => (await import("./command/sync.js")).syncTrees(line),
  serve: async (line) => (await import("./command/server.js")).serve(line),
  completion: async ({ words }) => {
    console.log(completion(words.length > 1 ? undefined : words[0]));
    return 0;
  },
};

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
