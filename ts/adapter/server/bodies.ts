// Requests of a host whose `Request` has no `body`, as Firefox: there a body can only be read as a whole.

import type { Incoming } from "./served.js";

/** The request with a body that can be read, which a request that nobody told so would seem to be without. */
export function readable(request: Request): Incoming {
  if (request.body !== undefined) return request;
  const { method, url, headers, signal } = request;
  const hasBody = method !== "GET" && method !== "HEAD";
  return { method, url, headers, signal, view: request, body: hasBody ? bodyOf(request) : null };
}

function bodyOf(request: Request): NonNullable<Incoming["body"]> {
  let isRead = false;
  const read = async () => {
    if (isRead) return { done: true };
    isRead = true;
    const value = new Uint8Array(await request.arrayBuffer());
    return value.length > 0 ? { value } : { done: true };
  };
  const cancel = async () => {
    isRead = true;
  };
  return { getReader: () => ({ read, cancel }) };
}
