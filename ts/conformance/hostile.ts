// Arguments of the wrong type: the result has `error`, nothing throws, and the backend keeps
// working.

import { type Case, holds, same, shown } from "./subject.js";

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

/** Values that are no text, no number and not absent. */
export const HOSTILE: ReadonlyArray<[string, unknown]> = [
  ["null", null],
  ["a number", 42],
  ["NaN", Number.NaN],
  ["true", true],
  ["an object", {}],
  ["an array", ["/x"]],
  ["a cyclic object", cyclic],
  ["a function", () => "/x"],
  ["a symbol", Symbol("x")],
  ["a big integer", 10n],
  [
    "an object that throws when read",
    {
      toString() {
        throw new Error("toString");
      },
      get length() {
        throw new Error("length");
      },
    },
  ],
  [
    "a proxy that throws",
    new Proxy(
      {},
      {
        get() {
          throw new Error("trap");
        },
      },
    ),
  ],
];

/** Method, arguments, and which of them must be text. */
const METHODS: ReadonlyArray<[string, unknown[], number[]]> = [
  ["ls", ["/"], [0]],
  ["read", ["/kept.txt"], [0]],
  ["readRaw", ["/kept.txt"], [0]],
  ["grep", ["kept"], [0]],
  ["glob", ["**"], [0]],
  ["write", ["/new.txt", "x"], [0, 1]],
  ["edit", ["/kept.txt", "kept", "kept"], [0, 1, 2]],
  ["delete", ["/none.txt"], [0]],
];

export const hostile: Case[] = METHODS.map(
  ([method, args, texts]): Case => ({
    name: `${method} answers arguments of the wrong kind`,
    needs: (promised) =>
      promised.extras && promised.writable && (method !== "delete" || promised.deletes),
    async run(it) {
      await it.write("/kept.txt", "kept");
      for (const at of texts) {
        for (const [name, value] of [...HOSTILE, ["nothing", undefined] as [string, unknown]]) {
          const given = args.map((arg, index) => (index === at ? value : arg));
          const call = Reflect.get(it.backend, method) as
            | ((...args: unknown[]) => unknown)
            | undefined;
          let answer: unknown;
          try {
            answer = await call?.apply(it.backend, given);
          } catch (error) {
            throw new Error(`${method} threw for ${name} as argument ${at}: ${error}`);
          }
          const refused = typeof (answer as { error?: unknown })?.error === "string";
          holds(`${method} refuses ${name} as argument ${at}`, refused, shown(answer));
        }
      }
      same("kept", await it.text("/kept.txt"), "kept");
      same("all there is", await it.glob("**"), ["/kept.txt"]);
    },
  }),
);
