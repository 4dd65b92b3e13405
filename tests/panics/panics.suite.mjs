// A panic in Rust reaches the caller as an ordinary Error, and other calls and backends go on.

export default {
  about: "panics: sync and async, in Node and workerd",
  needs: ["npm", "build:testing"],
  seconds: 60,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("panics")),
};
