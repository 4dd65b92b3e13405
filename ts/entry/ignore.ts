// `kitbag/ignore`: searches that leave out what ignore files name. A page that does not import it has
// none of its code.

export { IgnoreBackend, type IgnoreOptions, ignoreFiles, withIgnore } from "../backend/ignoring.js";

// For declarations of programs that import only this entry: the names of results are in `kitbag`.
export type {} from "../index.js";
