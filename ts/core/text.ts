// `TextEncoder` and `TextDecoder`. The build puts these in place of the globals of that name, since
// jsdom under Jest has neither; Node has them in a module too.

type Text = Pick<typeof globalThis, "TextDecoder" | "TextEncoder">;

const text: Text = /* @__PURE__ */ (() =>
  typeof globalThis.TextDecoder === "function"
    ? globalThis
    : (globalThis.process.getBuiltinModule("node:util") as Text))();

export const TextDecoder = /* @__PURE__ */ (() => text.TextDecoder)();
export const TextEncoder = /* @__PURE__ */ (() => text.TextEncoder)();
