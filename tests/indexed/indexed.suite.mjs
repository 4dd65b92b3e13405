// Updating a search index in the package as it ships: several writers at once, and
// processes that are killed in the midst.

export default {
  about: "updateIndex: several writers at once, killed processes, answers as a scan gives them",
  needs: ["npm", "build", "npm:durable"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("indexed")),
};
