// `HttpBackend` in hosts that are no browsers, and `serveFiles` in a service worker.

export default {
  about:
    "HttpBackend in workerd, Deno and Bun, over R2 and D1 in workerd; files by a service worker",
  needs: ["npm", "npm:fs", "npm:runtimes", "build", "chromium", "firefox", "webkit"],
  seconds: 30,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("clients")),
  /** All cases. */
  soak: (ctx) => ctx.nodeTests(ctx.testFiles("clients"), { env: { KITBAG_CLIENTS: "all" } }),
};
