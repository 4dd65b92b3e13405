// A backend with a shell whose code is loaded when the first command runs: just-bash is larger than
// everything else on the first screen.

import type { ExecuteResponse } from "kitbag";

type Execute = (command: string, call?: { signal?: AbortSignal }) => Promise<ExecuteResponse>;

export const loadShell = () => import("kitbag/just-bash");

/** The backend with `id` and `execute`, for the tools. */
export function withShell<B extends object>(backend: B): B {
  let made: Promise<Execute> | undefined;
  const execute: Execute = async (command, call) => {
    made ??= loadShell().then(({ bashExecute }) => bashExecute(backend) as Execute);
    return (await made)(command, call);
  };
  const bound = new Map<PropertyKey, unknown>();
  return new Proxy(backend, {
    has: (target, name) => name === "id" || name === "execute" || Reflect.has(target, name),
    get(target, name) {
      if (name === "id") return "just-bash";
      if (name === "execute") return execute;
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      if (!bound.has(name)) bound.set(name, value.bind(target));
      return bound.get(name);
    },
  });
}
