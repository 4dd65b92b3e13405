// `kitbag/sync`: brings two trees together. A page that does not import it has none of its code.

export { type SyncOptions, type SyncResult, sync } from "../backend/sync.js";

// For declarations of programs that import only this entry: the names of results are in `kitbag`.
export type {} from "../index.js";
