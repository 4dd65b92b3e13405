// The messages between JavaScript and WebAssembly have the fields that their one description lists.

export default {
  about: "fields of messages, packed and read, against their description",
  needs: ["npm", "build:testing"],
  run: (ctx) => ctx.nodeTests(["tests/wasm/messages.test.mjs"]),
};
