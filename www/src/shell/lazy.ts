// just-bash is larger than everything else on the first screen, so it is loaded by the first command.

import type { ExecuteResponse } from "kitbag";

let loaded = false;
export const shellIsLoaded = () => loaded;

export async function loadShell() {
  const module = await import("kitbag/just-bash");
  loaded = true;
  return module;
}

/** Adds `id` and `execute` to a backend that nobody else has. */
export function addShell<B extends object>(backend: B): B {
  const execute = async (
    command: string,
    call?: { signal?: AbortSignal },
  ): Promise<ExecuteResponse> => {
    shell ??= (await loadShell()).bashExecute(backend);
    return shell(command, call);
  };
  let shell: typeof execute | undefined;
  return Object.assign(backend, { id: "just-bash", execute });
}
