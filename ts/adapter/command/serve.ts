// An MCP server over a backend, for the command `kitbag serve`: over standard input
// and output, or over HTTP for this machine.

import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AnyBackend, createFileTools, type FileToolsOptions, withPolicy } from "kitbag";
import { busOf } from "./heard.js";
import { CommandError, keepSecret, version } from "./output.js";
import { installedSdk, type Serving } from "./sdk.js";
import { directoriesOf, partsOf, type ServedFolder } from "./served.js";

/** Files that usually contain passwords or keys. */
const SECRETS = [
  "**/.env",
  "**/.env.*",
  "**/.envrc",
  "**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}",
  "**/id_{rsa,dsa,ecdsa,ed25519}",
  "**/{.ssh,.aws,.gnupg,.kube,.azure}/**",
  "**/.config/gcloud/**",
  "**/.docker/config.json",
  "**/{.npmrc,.pypirc,.netrc,.pgpass,.git-credentials,.htpasswd}",
  "**/{credentials,service-account*,secrets}.json",
  "**/secrets.{yaml,yml,toml}",
];

/** What the flags say about the rules. */
export interface ServeRules {
  readOnly: boolean;
  shell: boolean;
  secrets: boolean;
  deny: readonly string[];
  allow: readonly string[];
  /** Structured results, with versions and `ifMatch`. */
  structured: boolean;
  /** The folders on disk that the files are in. */
  folders: readonly ServedFolder[];
  /** Whether the roots of clients are honoured. */
  rooted: boolean;
}

/** The rules as options of the tools, and whether some files are hidden. */
export function rulesOf(rules: ServeRules): { options: FileToolsOptions; hides: boolean } {
  const both: ["read", "write"] = ["read", "write"];
  const denied = [...rules.deny, ...(rules.secrets ? [] : SECRETS)];
  const permissions: NonNullable<FileToolsOptions["permissions"]> = [];
  if (denied.length > 0) permissions.push({ operations: both, paths: denied, mode: "deny" });
  if (rules.allow.length > 0) {
    permissions.push({ operations: both, paths: [...rules.allow], mode: "allow" });
    // Not the root itself: searches begin there.
    permissions.push({ operations: both, paths: ["/*", "/*/**"], mode: "deny" });
  }
  return {
    options: {
      policy: { readOnly: rules.readOnly, permissions, allowExecute: rules.shell },
      ...(rules.readOnly ? { tools: ["ls", "read_file", "glob", "grep"] } : {}),
    },
    hides: permissions.length > 0,
  };
}

/** Makes servers over one backend, one for each client. */
async function servers(backend: AnyBackend, rules: ServeRules, command: string): Promise<Serving> {
  const { options, hides } = rulesOf(rules);
  const { systemPrompt } = createFileTools(backend, options);
  const [sdk, { registerFileTools }] = await Promise.all([
    installedSdk(command),
    import("kitbag/mcp"),
  ]);
  const hidden = hides
    ? "Some files are hidden by rules of the user; do not try to get around them."
    : "";
  const { structured, folders, rooted } = rules;
  const parts = [systemPrompt, folders.length > 1 ? partsOf(folders) : "", hidden];
  const instructions = parts.filter((text) => text !== "").join("\n\n");
  const roots = rooted ? (uri: string) => directoriesOf(folders, uri) : undefined;
  return sdk((Server) => {
    const server = new Server({ name: "kitbag", version: version() }, { instructions });
    registerFileTools(server, backend, { ...options, structured, ...(roots && { roots }) });
    return server;
  });
}

/** Serves one client over standard input and output. */
export async function serveStdio(
  backend: AnyBackend,
  rules: ServeRules,
  command: string,
): Promise<void> {
  await (await servers(backend, rules, command)).stdio();
}

/** Where the server listens, and the token that clients must send. */
export interface HttpPlace {
  port: number;
  host: string;
  token: string | undefined;
}

/** Names of this machine. */
export const LOCAL = ["127.0.0.1", "localhost", "[::1]", "::1"];

/** Refuses to listen for other machines without a secret. */
export function needToken(host: string, token: string | undefined): void {
  if (LOCAL.includes(host) || token) return;
  throw new CommandError(
    `--host ${host} lets other machines in; set KITBAG_TOKEN to a secret that they must send`,
  );
}

/** The address of a host and port. */
export function addressOf(host: string, port: number): string {
  return `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}

/**
 * Serves clients over Streamable HTTP, at `/mcp`. Returns its URL. `again` opens the backend another time,
 * to watch it.
 */
export async function serveHttp(
  backend: AnyBackend,
  rules: ServeRules,
  { port, host, token }: HttpPlace,
  command: string,
  again: () => Promise<{ backend: AnyBackend; close(): Promise<void> }>,
): Promise<{ url: string; close: () => Promise<void> }> {
  needToken(host, token);
  keepSecret(token);
  const { policy = {} } = rulesOf(rules).options;
  const bus = busOf(backend, async () => {
    const { backend: other, close } = await again();
    return { backend: withPolicy(other, policy), close };
  });
  const { answered, end } = (await servers(backend, rules, command)).http(bus);
  const server = createServer(async (request, response) => {
    const refused = refusalOf(request, host, token);
    if (refused) return void answer(response, ...refused);
    try {
      await answered(request, response);
    } catch {
      if (!response.headersSent) answer(response, 500, "The request failed");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: actual } = server.address() as { port: number };
  const close = async () => {
    await end();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `${addressOf(host, actual)}/mcp`, close };
}

function answer(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error }));
}

/**
 * Why a request is refused. A page of another origin can send requests to this machine, under a name
 * that it made point here, so the name in `Host` must be this machine's, and an `Origin` that of this
 * server: a page of another port is somebody else's. A client that has the token is no such page.
 */
function refusalOf(
  { headers, url, socket }: IncomingMessage,
  host: string,
  token: string | undefined,
): [number, string] | undefined {
  const names = [...LOCAL, host];
  const known = (name: string) => names.includes(hostname(name));
  if (token) {
    if (!same(headers.authorization ?? "", `Bearer ${token}`)) {
      return [401, "A valid token is needed"];
    }
  } else if (!known(`http://${headers.host ?? ""}`)) return [403, "The host is not allowed"];
  else if (headers.origin !== undefined && !isOwn(headers.origin, names, socket.localPort)) {
    return [403, "The origin is not allowed"];
  }
  return (url ?? "").split("?")[0] === "/mcp" ? undefined : [404, "Use /mcp"];
}

/** Whether an origin is this server. */
function isOwn(origin: string, names: string[], port: number | undefined): boolean {
  try {
    const { protocol, hostname, port: given } = new URL(origin);
    return protocol === "http:" && names.includes(hostname) && Number(given || 80) === port;
  } catch {
    return false;
  }
}

function hostname(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return "";
  }
}

/** Compares without telling by time how much was right. */
export function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
