// What WebDAV answers: a status for each of several files, and the conditions that the standard names.

import type { Kept } from "../memory.js";
import { utf8 } from "../wire.js";
import { escaped } from "./xml.js";

/** Ends a call with this answer. */
export class Ended extends Error {
  constructor(readonly answer: Kept) {
    super(`answered ${answer.status}`);
  }
}

/** The words of HTTP for a status of a part of an answer. */
const WORDS: Record<number, string> = {
  200: "OK",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  423: "Locked",
  424: "Failed Dependency",
  507: "Insufficient Storage",
};

/** A status as an element. */
export const statusText = (status: number): string =>
  `<D:status>HTTP/1.1 ${status} ${WORDS[status] ?? "Error"}</D:status>`;

/** The address of a file as an element. */
export const hrefText = (href: string): string => `<D:href>${escaped(href)}</D:href>`;

/** An answer in XML; the element is `<D:name>` with this inside. */
export function xmlAnswer(status: number, name: string, inside: string): Kept {
  const body = `<?xml version="1.0" encoding="utf-8"?>\n<D:${name} xmlns:D="DAV:">${inside}</D:${name}>\n`;
  return {
    status,
    headers: { "content-type": "application/xml; charset=utf-8" },
    body: utf8(body),
  };
}

/** Answers about several files, each an element. */
export const multiStatus = (responses: readonly string[]): Kept =>
  xmlAnswer(207, "multistatus", responses.join("\n"));

/** One of several files with a status. */
export const responseText = (href: string, status: number): string =>
  `<D:response>${hrefText(href)}${statusText(status)}</D:response>`;

/** A condition of the standard that does not hold. */
export const refusedBy = (status: number, condition: string, inside = ""): Kept =>
  xmlAnswer(
    status,
    "error",
    inside ? `<D:${condition}>${inside}</D:${condition}>` : `<D:${condition}/>`,
  );

/** An answer without a body. */
export const bare = (status: number, headers: Record<string, string> = {}): Kept => ({
  status,
  headers,
  body: null,
});
