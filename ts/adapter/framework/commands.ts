// Commands of a backend with a shell, as frameworks run them: with a directory, variables and a signal.

import type { AnyBackend, ExecuteResponse } from "kitbag";

/** A backend that can run commands. */
export interface Shell {
  execute(
    command: string,
    options?: { timeoutMs?: number; signal?: AbortSignal },
  ): ExecuteResponse | Promise<ExecuteResponse>;
}

/** Checks that a backend can run commands. */
export function shellOf(called: string, backend: AnyBackend): Shell {
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError(`${called}: the first argument must be a backend`);
  }
  if (typeof (backend as Partial<Shell>).execute === "function") return backend as unknown as Shell;
  throw new TypeError(
    `${called}: the backend cannot run commands; take a LocalShellBackend, a SandboxBackend, or withBash of kitbag/just-bash`,
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that begins in a directory, with variables. */
export function prepared(
  command: string,
  directory: string | undefined,
  env: Record<string, string> | undefined,
): string {
  const lines: string[] = [];
  if (directory !== undefined && directory !== "" && directory !== ".") {
    lines.push(`cd -- ${quoted(directory)} || exit 1`);
  }
  for (const [name, value] of Object.entries(env ?? {})) {
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      throw new TypeError(
        `env: ${JSON.stringify(name)} is no name of a variable; use letters, digits and _`,
      );
    }
    lines.push(`export ${name}=${quoted(String(value))}`);
  }
  return [...lines, command].join("\n");
}

/** Runs a command; a refusal of the backend is an error. */
export async function ran(
  shell: Shell,
  command: string,
  options: { timeoutMs?: number; signal?: AbortSignal },
): Promise<ExecuteResponse> {
  options.signal?.throwIfAborted();
  const answer = await shell.execute(command, options);
  options.signal?.throwIfAborted();
  if (answer.error === undefined) return answer;
  throw Object.assign(new Error(answer.error), { code: answer.code });
}
