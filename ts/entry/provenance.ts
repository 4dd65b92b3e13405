// `kitbag/provenance`: labels for files, and rules about where labelled content may flow. A page that
// does not import it has none of its code.

export {
  type AskedFlow,
  type FlowRule,
  type LabelledRead,
  type LabelsResult,
  type PathLabel,
  ProvenanceBackend,
  type ProvenanceOptions,
  type TrustResult,
  withProvenance,
} from "../backend/provenance.js";

// For declarations of programs that import only this entry: the names of results are in `kitbag`.
export type {} from "../index.js";
