// Compiled, never run: kitbag's classes and interfaces where deepagents' own are wanted.

import type * as deepagents from "deepagents";
import type {
  SandboxBackendProtocolV2 as TheirSandbox,
  BackendProtocolV2 as Theirs,
} from "deepagents";
import type * as kitbag from "kitbag";
import {
  type Backend,
  CompositeBackend,
  createFileTools,
  type SandboxBackendProtocolV2 as OurSandbox,
  type BackendProtocolV2 as Ours,
  PolicyWrapper,
  StateBackend,
  StoreBackend,
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

// A rule about paths goes from one package to the other, in both directions.
export const toTheirs = (rule: kitbag.FilesystemPermission): deepagents.FilesystemPermission =>
  rule;
export const toOurs = (rule: deepagents.FilesystemPermission): kitbag.FilesystemPermission => rule;
export const listToTheirs = (
  rules: kitbag.FilesystemPermission[],
): deepagents.FilesystemPermission[] => rules;
export const inPolicy = (rules: deepagents.FilesystemPermission[]): kitbag.Policy => ({
  permissions: rules,
});
export const asks: kitbag.PermissionRule = { operations: ["write"], paths: ["/**"], mode: "ask" };
// @ts-expect-error deepagents' tools cannot ask
export const asksThem: deepagents.FilesystemPermission = asks;

// Namespace functions, with the argument of either package and with its older properties.
export const factory: kitbag.NamespaceFactory = (ctx) => [
  ctx.runtime.context.userId,
  ctx.state.org,
];
export const older = (ctx: kitbag.BackendContext): string[] => [ctx.assistantId ?? "none"];
export const namespaces = [
  new StoreBackend({ namespace: (ctx) => [ctx.runtime.context.userId] }),
  new StoreBackend({ namespace: (ctx) => [ctx.state.org] }),
  new StoreBackend({ namespace: (rt) => [rt.serverInfo.user.identity, rt.executionInfo.threadId] }),
  new StoreBackend({ namespace: factory }),
  new StoreBackend({ namespace: older }),
  new StoreBackend({ namespace: (rt: { context?: { user: string } }) => [rt.context?.user ?? ""] }),
  new StoreBackend({ namespace: ["fixed"] }),
];
// @ts-expect-error a namespace is a list
new StoreBackend({ namespace: (ctx) => ctx.runtime.context.userId as string });

// Functions in the place of a backend.
export const tools = [
  createFileTools((rt) => new StateBackend(rt)),
  createFileTools((rt) => new StoreBackend(rt, { namespace: ["a"] })),
  createFileTools(
    (rt) => new CompositeBackend(new StateBackend(rt), { "/m/": new StateBackend() }),
  ),
  createFileTools(async (rt) =>
    rt.state === undefined ? new StateBackend() : new StateBackend(rt),
  ),
  createFileTools(() => new StateBackend()),
  createFileTools((_runtime: unknown) => new StateBackend()),
];
export const factories = (made: deepagents.BackendFactory) => createFileTools(made);

// A wrapper may name the result types that kitbag's own backends have, whatever it wraps.
export class Wrapper implements Ours {
  constructor(private inner: Ours) {}
  ls(path: string): Promise<kitbag.LsResult> {
    return this.inner.ls(path);
  }
  read(path: string, offset?: number, limit?: number): Promise<kitbag.ReadResult> {
    return this.inner.read(path, offset, limit);
  }
  readRaw = (path: string) => this.inner.readRaw(path);
  grep: Ours["grep"] = (pattern, path, glob) => this.inner.grep(pattern, path, glob);
  async glob(pattern: string, path?: string) {
    return this.inner.glob(pattern, path);
  }
  async write(path: string, content: string): Promise<kitbag.WriteResult> {
    return this.inner.write(path, content);
  }
  async edit(path: string, from: string, to: string, all = false): Promise<kitbag.EditResult> {
    return this.inner.edit(path, from, to, all);
  }
}
export const wrappers = [
  new Wrapper(new StateBackend()),
  new Wrapper(new Wrapper(new StateBackend())),
  new PolicyWrapper(new StateBackend()),
  new PolicyWrapper(new Wrapper(new StateBackend()), ["/policies"]),
];
export const overTheirs = (inner: Theirs) => new Wrapper(inner);
export const literal: Ours = {
  ls: async (path) => ({ files: [{ path: path.trim() }] }),
  read: (path, offset) => ({ content: `${path.length} ${offset?.toFixed()}` }),
  readRaw: async () => ({ error: "there is none" }),
  grep: async (pattern) => ({ matches: [{ path: "/a", line: 1, text: pattern.trim() }] }),
  glob: async () => ({ files: [] }),
  write: async (path) => ({ path }),
  edit: async (path) => ({ path, occurrences: 1 }),
};
export async function looked(backend: Ours): Promise<number> {
  const read = await backend.read("/a");
  // @ts-expect-error no field of a result
  read.contents;
  // @ts-expect-error not every backend answers with a promise
  backend.ls("/").then;
  return read.content?.length ?? 0;
}
