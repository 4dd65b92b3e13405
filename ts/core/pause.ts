// A pause in a long search: other work of the host goes on, and a page draws its frames.

/** Resolves after other work that is due. A timer would take at least four milliseconds in a page. */
export function pause(): Promise<unknown> {
  return new Promise((done) => {
    if (typeof MessageChannel !== "function") return void setTimeout(done);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(port1.close());
    port2.postMessage(0);
  });
}
