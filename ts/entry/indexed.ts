// `kitbag/indexed`: a search index beside any backend. Its code is large, so it is not among what
// `import … from "kitbag"` offers.

export * from "../backend/indexed.js";
