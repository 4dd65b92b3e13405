// The document of WebDAV in a backend, under a condition that the backend checks. With a key it begins with
// a digest that nobody else can make.

import type { Served } from "../served.js";
import { utf8 } from "../wire.js";
import type { Store } from "./record.js";

const hex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Proves texts with a key; without one, nothing is proved. */
function prover(key: Uint8Array<ArrayBuffer> | undefined) {
  if (!key) return async () => "";
  const how = { name: "HMAC", hash: "SHA-256" };
  const imported = crypto.subtle.importKey("raw", key, how, false, ["sign"]);
  return async (text: string) => hex(await crypto.subtle.sign("HMAC", await imported, utf8(text)));
}

/** A document in a backend. */
export function inBackend(
  backend: Served,
  path: string,
  key: Uint8Array<ArrayBuffer> | undefined,
): Store {
  const proof = prover(key);
  const wrapped = async (text: string) => utf8(`${await proof(text)}\n${text}`);
  return {
    async read() {
      const [answer] = await backend.downloadFiles([path]);
      if (!answer?.content) {
        if (answer?.error === "file_not_found") return undefined;
        throw new Error(`WebDAV: what is known of locks cannot be read: ${answer?.error}`);
      }
      const text = new TextDecoder().decode(answer.content);
      const end = text.indexOf("\n");
      const body = text.slice(end + 1);
      if (text.slice(0, Math.max(0, end)) !== (await proof(body))) {
        throw new Error(`WebDAV: '${path}' was not written with this key; delete it`);
      }
      return body;
    },
    async swap(before, after) {
      const fresh = await wrapped(after);
      const answer =
        before === undefined
          ? await backend.write(path, fresh, { ifAbsent: true })
          : await backend.edit(path, await wrapped(before), fresh, false);
      if (answer.error === undefined) return true;
      if (["already_exists", "conflict", "not_found"].includes(String(answer.code))) return false;
      throw new Error(`WebDAV: what is known of locks cannot be stored: ${answer.error}`);
    },
  };
}
