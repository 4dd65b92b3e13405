// Tells what a file was found to be, and then writes version after version of it until it is
// killed. Each version carries its number and a checksum of the rest.

import { IndexedDbBackend, OpfsBackend } from "/pkg/dist/browser.js";

const LARGE = 5 * 1024 * 1024;
const PATH = "/torn.txt";

const STORES = {
  indexeddb: (more) => new IndexedDbBackend({ database: "torn", ...more }),
  opfs: (more) => new OpfsBackend({ root: "torn", ...more }),
  "opfs-worker": (more) => new OpfsBackend({ root: "torn-worker", ...more }),
};

async function tell(path, data) {
  await fetch(path, { method: "POST", body: JSON.stringify(data) });
}

async function checksum(text) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function version(number) {
  const line = `${String(number).padStart(9, "0")} is the number of this version, said again\n`;
  const rest = line.repeat(Math.ceil(LARGE / line.length)).slice(0, LARGE);
  return `version ${number} ${await checksum(rest)}\n${rest}`;
}

/** The version that a file is, 0 for none; what is no whole version is a text. */
async function found(files) {
  const [{ content, code }] = await files.downloadFiles([PATH]);
  if (code === "not_found") return 0;
  if (!content) return `unreadable: ${code}`;
  const text = new TextDecoder().decode(content);
  const [, number, sum] = /^version (\d+) ([0-9a-f]+)\n/.exec(text) ?? [];
  if (!number) return `no header in ${text.length} bytes`;
  const rest = text.slice(text.indexOf("\n") + 1);
  if (rest.length !== LARGE) return `version ${number} has ${rest.length} bytes`;
  if ((await checksum(rest)) !== sum) return `version ${number} is mixed`;
  const { matches } = await files.grep("version ", null, null, 1);
  const [{ text: header } = {}] = matches ?? [];
  return header?.startsWith(`version ${number} `)
    ? Number(number)
    : `version ${number}, in which grep finds ${header}`;
}

/** Names in the store that nobody wrote: what dead writers left, where that shows. */
async function strangers(files) {
  const { files: listed, error } = await files.ls("/");
  return error ? [error] : listed.map(({ path }) => path).filter((path) => path !== PATH);
}

/** Looks at what the round before has left, and writes until it is killed. */
export async function run([kind, crashProtection]) {
  const options = { writeMode: "overwrite", crashProtection };
  const files = STORES[kind](options);
  const is = await found(files);
  await tell("/found", { kind, is, strangers: await strangers(files) });
  // Numbers go on where the last page was, as far as the file tells.
  for (let number = typeof is === "number" ? is + 1 : 1; ; number++) {
    const text = await version(number);
    await tell("/begun", { kind, number });
    const { error } = await files.write(PATH, text);
    await tell(error ? "/failed" : "/kept", { kind, number, error });
    if (error) return;
  }
}

if (typeof document === "object") {
  const asked = new URLSearchParams(location.search);
  const crashProtection = asked.has("protected");
  for (const kind of asked.get("kinds").split(",")) {
    const failed = (data) => tell("/failed", { kind, ...data });
    if (kind === "opfs-worker") {
      const worker = new Worker("/pages/worker.mjs", { type: "module" });
      worker.onmessage = ({ data }) => failed(data);
      worker.postMessage(["/pages/torn.mjs", "run", [kind, crashProtection]]);
    } else run([kind, crashProtection]).catch((error) => failed({ error: String(error) }));
  }
}
