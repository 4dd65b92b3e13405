// D1Backend on miniflare's D1, inside workerd: conformance, and 8 concurrent writers.

import { run } from "./d1.mjs";

export default {
  about: "D1 in workerd: conformance, lost updates, create races",
  needs: ["npm", "build"],
  minutes: 5,
  run,
};
