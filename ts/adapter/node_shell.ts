// `kitbag/node`: runs commands with `child_process`, for LocalShellBackend, also in Deno and Bun.

// For declarations of programs that import only this entry: the names of results are in `kitbag`.
export type {} from "kitbag";
export { type NodeShellOptions, nodeShell } from "../core/node_shell.js";
