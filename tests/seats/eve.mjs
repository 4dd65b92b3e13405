// A session of eve's just-bash sandbox over a backend, which is its `/workspace`, in this process.

import { JustBashSandbox } from "eve/sandbox/just-bash";
import { bashFileSystem } from "kitbag/just-bash";
import { folder } from "./lib.mjs";

/** Where eve keeps the provider of an environment; `open` finds it there, in a server of eve alone. */
const PROVIDER = Symbol.for("eve.sandbox-provider-runtime");

export async function eveSession(backend, t, id = "session") {
  const environment = JustBashSandbox.environment({
    autoInstall: false,
    filesystem: ({ defaultFilesystem, justBash }) =>
      new justBash.MountableFs({
        base: defaultFilesystem,
        mounts: [{ mountPoint: "/workspace", filesystem: bashFileSystem(backend) }],
      }),
  });
  const { implementation } = environment[PROVIDER];
  const host = {
    loadOptionalPackage: ({ importModule }) => importModule(),
    resolveProjectPath: (path) => path,
  };
  const storagePath = folder(t);
  const artifact = await implementation.prepare({
    files: { list: async () => [] },
    host,
    resources: { source: { kind: "none" } },
    sourceRevision: "1",
    storagePath,
  });
  const { handle } = await implementation.start(
    { host, session: { id }, storagePath },
    undefined,
    artifact,
  );
  t.after(() => handle.onRuntimeShutdown());
  return handle.sandbox;
}
