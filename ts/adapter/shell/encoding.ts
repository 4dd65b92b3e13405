// Contents in the encodings of just-bash, which are those of Node's `Buffer`.

import type { FileContent } from "just-bash";

export type Encoding = string | { encoding?: string | null } | null | undefined;

const nameOf = (encoding: Encoding) =>
  (typeof encoding === "object" ? encoding?.encoding : encoding) ?? "utf8";

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

export function decode(bytes: Uint8Array, encoding: Encoding): string {
  switch (nameOf(encoding)) {
    case "base64":
      return btoa(latin1(bytes));
    case "hex":
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    case "binary":
    case "latin1":
    case "ascii":
      return latin1(bytes);
    default:
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
}

const encoder = new TextEncoder();

export function encode(content: FileContent, encoding: Encoding): Uint8Array {
  if (typeof content !== "string") return content;
  const raw = (text: string) =>
    Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) & 255);
  switch (nameOf(encoding)) {
    case "base64":
      return raw(atob(content));
    case "hex":
      return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    case "binary":
    case "latin1":
    case "ascii":
      return raw(content);
    default:
      return encoder.encode(content);
  }
}
