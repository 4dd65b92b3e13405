// Files that one end of a socket lends to the other.

export default {
  about: "files that a page or a program lends through a socket, and hostile ends of it",
  needs: ["npm", "build", "chromium"],
  seconds: 80,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("lend")),
};
