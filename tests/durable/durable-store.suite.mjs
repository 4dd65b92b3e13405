// StoreBackend over LangGraph's stores, over a store that keeps only JSON, and over FileData that
// other packages wrote.

import { run } from "./store.mjs";

export default {
  about: "LangGraph stores: conformance, FileData of three forms, namespaces, older constructions",
  needs: ["build", "npm:durable", "npm:latest", "postgres"],
  minutes: 6,
  run,
};
