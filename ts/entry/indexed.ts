// `kitbag/indexed`: a search index beside any backend. Its code is large, so it is not among what
// `import … from "kitbag"` offers.

export {
  IndexBackend,
  type IndexOptions,
  type IndexUpdate,
  withIndex,
} from "../backend/indexed.js";

// For declarations of programs that import only this entry: the names of results are in `kitbag`.
export type {} from "../index.js";
