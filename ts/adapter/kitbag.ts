#!/usr/bin/env node
// `kitbag COMMAND …`: looks at, searches, copies, compares and serves the files of any backend that
// an address names.

import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { LocalShellBackend } from "kitbag";
import { nodeShell } from "kitbag/node";
import { instead } from "../core/nearest.js";
import { ADDRESSES, open } from "./command/address.js";
import { addressFlags, cat, cp, diff, du, grep, type Line, ls } from "./command/commands.js";
import { CommandError, tell, withoutPassword } from "./command/output.js";
import { serveHttp, serveStdio, version } from "./command/serve.js";

type Flag = { type: "string" | "boolean"; short?: string; multiple?: boolean };

interface Command {
  form: string;
  about: string;
  flags: Record<string, Flag>;
  /** What `--help` says of the flags. */
  help: string;
  run: (line: Line) => Promise<number>;
}

const bool = (short?: string): Flag => ({ type: "boolean", ...(short && { short }) });
const word = (short?: string): Flag => ({ type: "string", ...(short && { short }) });

const COMPARE = `  --compare content|time   tell equal files by their bytes (the default), or by size and a time
                           that is not older, which reads nothing`;

const COMMANDS: Record<string, Command> = {
  ls: {
    form: "ls ADDRESS [DIRECTORY]",
    about: "list a directory",
    flags: { recursive: bool("r") },
    help: "  -r, --recursive          list all files below it",
    run: ls,
  },
  cat: {
    form: "cat ADDRESS FILE...",
    about: "print files",
    flags: {},
    help: "",
    run: cat,
  },
  grep: {
    form: "grep PATTERN ADDRESS [PATH]",
    about: "search files, and print PATH:LINE:TEXT; 1 if there is no match",
    flags: {
      "ignore-case": bool("i"),
      "fixed-strings": bool("F"),
      glob: word("g"),
      "max-count": word("m"),
      "files-with-matches": bool("l"),
      count: bool("c"),
    },
    help: `  -i, --ignore-case        ignore letter case
  -F, --fixed-strings      the pattern is a text, and no regular expression
  -g, --glob GLOB          search only matching files
  -m, --max-count N        at most N matches of each file
  -l, --files-with-matches print only the paths of files
  -c, --count              print the number of matches of each file`,
    run: grep,
  },
  cp: {
    form: "cp FROM TO",
    about: "copy all files of a tree; run it again to go on",
    flags: { "on-conflict": word(), compare: word() },
    help: `  --on-conflict RULE       a file of TO has other content: error (the default) ends the copy,
                           skip keeps it, overwrite replaces it
${COMPARE}`,
    run: cp,
  },
  diff: {
    form: "diff ADDRESS ADDRESS",
    about: "compare two trees: - only in the first, + only in the second, ~ different; 1 if any",
    flags: { compare: word() },
    help: COMPARE,
    run: diff,
  },
  du: {
    form: "du ADDRESS [DIRECTORY]",
    about: "show how much is where",
    flags: { depth: word("d") },
    help: "  -d, --depth N            how many levels of directories (default 1)",
    run: du,
  },
  serve: {
    form: "serve ADDRESS",
    about: "serve the files over MCP, on standard input and output",
    flags: {
      http: word(),
      host: word(),
      "read-only": bool(),
      shell: bool(),
      secrets: bool(),
      structured: bool(),
      "ignore-roots": bool(),
      deny: { type: "string", multiple: true },
      allow: { type: "string", multiple: true },
    },
    help: `  --http PORT              over Streamable HTTP instead, at http://127.0.0.1:PORT/mcp; with
                           KITBAG_TOKEN set, clients must send it as a bearer token
  --host NAME              listen on another address; needs KITBAG_TOKEN
  --read-only              offer only the tools that read
  --deny PATTERN           no access to files that match; may be repeated
  --allow PATTERN          only files that match; may be repeated
  --secrets                do not deny the files that usually contain keys
  --ignore-roots           the whole folder, whatever folders the client works in (its roots)
  --structured             results also as data, with versions of files for conditional changes
  --shell                  also run commands in a folder, with your rights; they follow no rules
                           about files`,
    run: serve,
  },
};

const SERVES = COMMANDS.serve as Command;

const SERVE = "npx -p kitbag -p @modelcontextprotocol/sdk kitbag serve ADDRESS";

async function serve({ flags, words, signal }: Line): Promise<number> {
  const [address = ""] = words;
  if (words.length !== 1) throw new CommandError(`one address is needed\n\n${help(SERVES)}`);
  const list = (name: string) => (flags[name] as unknown as string[] | undefined) ?? [];
  const port = flags.http === undefined ? undefined : Number(flags.http);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536)) {
    throw new CommandError("--http takes the number of a port; 0 takes any free one");
  }
  const readOnly = flags["read-only"] === true;
  const shell = flags.shell === true;
  if (shell && (readOnly || port !== undefined)) {
    const why = readOnly
      ? "--shell and --read-only exclude each other: commands can write"
      : "--shell and --http exclude each other: whoever reaches the port could run commands";
    throw new CommandError(`${why}\n\n${help(SERVES)}`);
  }
  const rules = {
    readOnly,
    shell,
    secrets: flags.secrets === true,
    deny: list("deny"),
    allow: list("allow"),
    structured: flags.structured === true,
  };
  const { backend: files, close, folder } = await open(address, addressFlags(flags, !readOnly));
  // A copy makes its folder; a server of none is a misspelled address.
  if (folder !== undefined && !existsSync(folder)) {
    throw new CommandError(`There is no folder ${withoutPassword(folder)}`);
  }
  const backend = shell ? withCommands(folder) : files;
  // Commands follow no rules about files, so they are not kept within the roots of a client.
  const rooted = folder !== undefined && !shell && flags["ignore-roots"] !== true;
  const all = { ...rules, ...(rooted && { folder }) };
  if (port === undefined) {
    await serveStdio(backend, all, SERVE);
    signal.addEventListener("abort", () => process.exit(0));
    return -1;
  }
  const host = typeof flags.host === "string" ? flags.host : "127.0.0.1";
  const served = await serveHttp(
    backend,
    all,
    { port, host, token: process.env.KITBAG_TOKEN },
    SERVE,
  );
  tell(`kitbag: serving at ${served.url}`);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  await served.close();
  await close();
  return 0;
}

function withCommands(rootDir: string | undefined): LocalShellBackend {
  if (rootDir === undefined) throw new CommandError("--shell needs a folder as ADDRESS");
  const { PATH = "", HOME = "" } = process.env;
  return new LocalShellBackend({ rootDir, execute: nodeShell(), env: { PATH, HOME } });
}

const COMMON: Record<string, Flag> = {
  json: bool(),
  endpoint: word(),
  region: word(),
  help: bool("h"),
};

const COMMON_HELP = `  --json                   print JSON
  --endpoint URL           the server of s3:// addresses
  --region NAME            the region of s3:// addresses
  -h, --help               print this`;

function usage(): string {
  const rows = Object.values(COMMANDS).map(({ form, about }) => `  ${form.padEnd(28)} ${about}`);
  return `Usage: kitbag COMMAND

${rows.join("\n")}

kitbag COMMAND --help says more, kitbag --version prints the version. A command ends with 0, with 1 if
files differ, failed or did not match, and with 2 if it could not run.

${ADDRESSES}`;
}

function help({ form, about, help: flags }: Command): string {
  const own = flags === "" ? "" : `${flags}\n`;
  return `Usage: kitbag ${form}\n\n${about}\n\n${own}${COMMON_HELP}\n\n${ADDRESSES}`;
}

/** Commands that end in an orderly way when they are interrupted. */
const INTERRUPTED = ["cp", "diff", "grep", "serve"];

async function main(args: string[]): Promise<number> {
  const [name = "", ...rest] = args;
  if (name === "" || name === "--help" || name === "-h" || name === "help") {
    const asked = COMMANDS[rest[0] ?? ""];
    console.log(asked ? help(asked) : usage());
    return name === "" ? 2 : 0;
  }
  if (name === "--version") {
    console.log(version());
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    throw new CommandError(
      `there is no command "${name}"; ${instead(name, Object.keys(COMMANDS), "commands")}`,
    );
  }
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: rest,
      allowPositionals: true,
      options: { ...COMMON, ...command.flags },
    });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${help(command)}`);
  }
  if (parsed.values.help) {
    console.log(help(command));
    return 0;
  }
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
  const flags = parsed.values as Line["flags"];
  const code = await command.run({ flags, words: parsed.positionals, signal: stop.signal });
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
