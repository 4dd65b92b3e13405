// The documentation: its code, its headings, and the site that is made of it.

export default {
  about: "code of the documentation compiles and runs; the site loads, without other hosts",
  needs: [
    "npm",
    "build",
    "chromium",
    "npm:docs",
    "npm:agents",
    "npm:durable",
    "npm:optional",
    "npm:fs",
    "npm:mcp",
    "npm:newest",
    "npm:editor",
  ],
  seconds: 100,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("docs")),
};
