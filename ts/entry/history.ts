// `kitbag/history`: what outlives a process: the history of a backend, and turns that are kept. A page
// that does not import it has none of its code.

export * from "../backend/history.js";
export * from "../backend/kept.js";
