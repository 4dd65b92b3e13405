// ContextHubBackend over a Hub that the test implements, with the built-in client and langsmith's.

import { run } from "./hub.mjs";

export default {
  about: "Context Hub: conformance by both clients, races, coalescing, failures",
  needs: ["build", "npm:durable"],
  minutes: 6,
  run,
};
