// The folder of the test as the agent's workspace, under rules.

import { defineSandbox } from "eve/sandbox";
import { JustBashSandbox } from "eve/sandbox/just-bash";
import { FilesystemBackend, withPolicy } from "kitbag";
import { bashFileSystem } from "kitbag/just-bash";

const { rootDir, permissions } = JSON.parse(process.env.KITBAG_EVE ?? "{}");
const backend = withPolicy(new FilesystemBackend({ rootDir }), { permissions });

export const environment = JustBashSandbox.environment({
  autoInstall: false,
  filesystem: ({ defaultFilesystem, justBash }) =>
    new justBash.MountableFs({
      base: defaultFilesystem,
      mounts: [{ mountPoint: "/workspace", filesystem: bashFileSystem(backend) }],
    }),
});

export default defineSandbox(() => environment.open());
