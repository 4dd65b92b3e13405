// `kitbag/ignore`: searches that leave out what ignore files name. A page that does not import it has
// none of its code.

export * from "../backend/ignoring.js";
