// `kitbag/node`: runs commands with `child_process`, for LocalShellBackend, also in Deno and Bun.

export { type NodeShellOptions, nodeShell } from "../core/node_shell.js";
