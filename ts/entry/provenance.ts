// `kitbag/provenance`: labels for files, and rules about where labelled content may flow. A page that
// does not import it has none of its code.

export * from "../backend/provenance.js";
