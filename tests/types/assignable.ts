// Compiled, never run: kitbag's classes and interfaces where deepagents' own are wanted.

import type {
  SandboxBackendProtocolV2 as TheirSandbox,
  BackendProtocolV2 as Theirs,
} from "deepagents";
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

// StateBackend answers at once, and says so.
export const now: string | undefined = new StateBackend().ls("/").error;
export const code: "not_found" | string | undefined = new StateBackend().read("/x").code;

// @ts-expect-error a typing mistake in an option
new StateBackend({ writemode: "create" });
// @ts-expect-error a mode that is none
new StateBackend({ writeMode: "append" });
// @ts-expect-error a backend without execute is no sandbox
export const none: TheirSandbox = new StateBackend();
