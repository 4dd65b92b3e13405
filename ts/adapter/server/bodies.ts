// Requests of a host whose `Request` has no property `body`, such as Firefox: there a body is read as a whole.

import type { Incoming } from "./served.js";

/** A request whose body can be read on every host; without this it would seem to have none there. */
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
