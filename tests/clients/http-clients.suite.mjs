// `HttpBackend` in every host, and `serveFiles` in a service worker.

export default {
  about: "HttpBackend in Chromium, Firefox, workerd, Deno, Bun, over S3; files by a service worker",
  needs: ["npm", "npm:fs", "npm:runtimes", "build", "chromium", "firefox", "moto"],
  seconds: 40,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("clients")),
  soak: (ctx) => ctx.nodeTests(ctx.testFiles("clients"), { env: { KITBAG_CLIENTS: "all" } }),
};
