// The command serve: reads its flags, and starts the server that they ask for.

import { LocalShellBackend } from "kitbag";
import { nodeShell } from "kitbag/node";
import { serveTree } from "./files.js";
import { addressFlags, type Line } from "./line.js";
import { CommandError, tell } from "./output.js";
import { serveHttp, serveStdio } from "./serve.js";
import { openServed, type ServedFolder } from "./served.js";
import { help } from "./table.js";

const SERVE = "npx -p kitbag -p @modelcontextprotocol/server kitbag serve ADDRESS";

export async function serve({ flags, words, signal }: Line): Promise<number> {
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
