// `kitbag serve --files` and `--webdav`: the files of an address over HTTP, for `HttpBackend`, `curl`, other
// kitbag commands, and as a drive.

import { createServer } from "node:http";
import { type AnyBackend, StateBackend, withPolicy } from "kitbag";
import { answerNode } from "../server/node.js";
import type { Incoming } from "../server/served.js";
import { serving } from "../server/serving.js";
import { keepSecret, tell } from "./output.js";
import {
  addressOf,
  type HttpPlace,
  LOCAL,
  needToken,
  rulesOf,
  type ServeRules,
  same,
} from "./serve.js";

/** Serves files at the root of an address. Returns its URL. */
export async function serveTree(
  backend: AnyBackend,
  rules: ServeRules,
  { port, host, token }: HttpPlace,
  webdav: boolean,
): Promise<{ url: string; close: () => Promise<void> }> {
  needToken(host, token);
  keepSecret(token);
  const ruled = withPolicy(backend, rulesOf(rules).options.policy ?? {});
  let answer: ReturnType<typeof serving> | undefined;
  const server = createServer((request, response) => {
    if (answer) void answerNode(request, response, answer);
    else response.writeHead(503).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: actual } = server.address() as { port: number };
  const isKnown = ({ headers }: Incoming) =>
    token === undefined || same(tokenIn(headers.get("authorization") ?? "", webdav), token);
  answer = serving((request) => (isKnown(request) ? ruled : null), {
    // Without a token, other names that point to this machine are somebody else's.
    ...(token ? {} : { hosts: [...LOCAL, host].flatMap((name) => hostsOf(name, actual)) }),
    // Whatever name a drive's user chose, the files are the same.
    ...(webdav ? { webdav: { keepIn: { backend: new StateBackend() } }, client: nameOf } : {}),
    onError: (error) => tell(`kitbag: ${error instanceof Error ? error.message : error}`),
  });
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `${addressOf(host, actual)}/`, close };
}

/** The token of a request; a drive sends it as a password, under any name. */
function tokenIn(header: string, webdav: boolean): string {
  const [, scheme = "", value = ""] = /^(\w+) +(\S+)$/.exec(header) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  if (!webdav || scheme.toLowerCase() !== "basic") return "";
  const text = Buffer.from(value, "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}

/** Names who asks, without the token. */
function nameOf({ headers }: Request): string {
  const [, value = ""] = /^basic +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  return Buffer.from(value, "base64").toString("utf8").split(":")[0] ?? "";
}

/** A host with its port, as addresses have it. */
function hostsOf(name: string, port: number): string[] {
  try {
    return [new URL(addressOf(name, port)).host];
  } catch {
    return [];
  }
}
