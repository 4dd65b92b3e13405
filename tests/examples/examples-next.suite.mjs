// The example with Next.js. On request, like the suite `stacks`, whose packages it uses.

export default {
  about: "examples: a chat in Next.js with files in S3 (on request)",
  needs: ["npm", "build", "moto", "npm:stacks"],
  onRequest: true,
  run: (ctx) => ctx.nodeTests(["tests/examples/next.test.mjs"]),
};
