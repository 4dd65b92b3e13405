// The chunks in workerd. Each Worker is a new instance; its bindings say what to run.

import { runConformance } from "../../pkg/dist/conformance.js";
import * as history from "../../pkg/dist/workerd/history.js";
import * as ignore from "../../pkg/dist/workerd/ignore.js";
import * as indexed from "../../pkg/dist/workerd/indexed.js";
import * as provenance from "../../pkg/dist/workerd/provenance.js";
import * as sync from "../../pkg/dist/workerd/sync.js";
import * as main from "../../pkg/dist/workerd.js";
import { remote } from "./remote.mjs";
import { alone, SHORT, together } from "./run.mjs";

const kitbag = { ...main, ...history, ...indexed, ...ignore, ...provenance, ...sync };

export default {
  async fetch(_, { NAME, ORIGIN }) {
    const host = { ...remote(ORIGIN), runConformance };
    try {
      const reports = NAME
        ? [await alone(NAME, kitbag, host, { only: SHORT })]
        : await together(kitbag, host);
      return Response.json(reports);
    } catch (error) {
      return new Response(error?.stack ?? String(error), { status: 500 });
    }
  },
};
