// Compiled, never run: kitbag's classes and interfaces where deepagents' own are wanted.

import type * as deepagents from "deepagents";
import type {
  SandboxBackendProtocolV2 as TheirSandbox,
  BackendProtocolV2 as Theirs,
} from "deepagents";
import type * as kitbag from "kitbag";
import {
  type Backend,
  type SandboxBackendProtocolV2 as OurSandbox,
  type BackendProtocolV2 as Ours,
  StateBackend,
} from "kitbag";

export const state: Theirs = new StateBackend();
export const options: Theirs = new StateBackend({
  files: { "/a.txt": "text", "/b.bin": new Uint8Array(1) },
  writeMode: "overwrite",
  fileFormat: "v1",
  maxBytes: 1024,
});
export const runtime: Theirs = new StateBackend({ state: { files: {} } });
export const channel: Theirs = new StateBackend({ channel: { read: () => ({}), send() {} } });

export const everyBackend = (backend: Backend): Theirs => backend;
export const protocol = (backend: Ours): Theirs => backend;
export const sandbox = (backend: OurSandbox): TheirSandbox => backend;

// deepagents' names, assignable both ways.
type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? true : "not from theirs") : "not to theirs";
export const names: {
  any: Both<kitbag.AnyBackendProtocol, deepagents.AnyBackendProtocol>;
  first: Both<kitbag.BackendProtocol, deepagents.BackendProtocol>;
  firstByNumber: Both<kitbag.BackendProtocolV1, deepagents.BackendProtocolV1>;
  second: Both<kitbag.BackendProtocolV2, deepagents.BackendProtocolV2>;
  sandbox: Both<kitbag.SandboxBackendProtocol, deepagents.SandboxBackendProtocol>;
  sandboxSecond: Both<kitbag.SandboxBackendProtocolV2, deepagents.SandboxBackendProtocolV2>;
  factory: Both<kitbag.BackendFactory, deepagents.BackendFactory>;
  runtime: Both<kitbag.BackendRuntime, deepagents.BackendRuntime>;
} = {
  any: true,
  first: true,
  firstByNumber: true,
  second: true,
  sandbox: true,
  sandboxSecond: true,
  factory: true,
  runtime: true,
};

/** `if (result.error)` tells success from failure, in every way to write it. */
export async function narrowed(backend: Backend): Promise<string> {
  const read = await backend.read("/a.txt");
  if (read.error) {
    const why: kitbag.ErrorCode = read.code;
    // @ts-expect-error a failure has no content
    read.content.length;
    return why + read.error.length;
  }
  const length: number = read.content.length;
  const { files, error } = await backend.ls("/");
  if (error !== undefined) throw new Error(error);
  const first: string | undefined = files[0]?.path;
  const found = await backend.grep("x");
  if (!found.error) found.matches.map((match) => match.line.toFixed());
  const edit = await backend.edit("/a.txt", "a", "b");
  if ("occurrences" in edit && edit.error === undefined) edit.occurrences.toFixed();
  // @ts-expect-error not before it is known that there was no error
  (await backend.glob("*")).files.length;
  return `${length} ${first}`;
}

// StateBackend answers at once, and says so.
export const now: string | undefined = new StateBackend().ls("/").error;
export const code: "not_found" | string | undefined = new StateBackend().read("/x").code;

// @ts-expect-error a typing mistake in an option
new StateBackend({ writemode: "create" });
// @ts-expect-error a mode that is none
new StateBackend({ writeMode: "append" });
// @ts-expect-error a backend without execute is no sandbox
export const none: TheirSandbox = new StateBackend();
