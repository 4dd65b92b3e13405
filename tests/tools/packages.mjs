// Lets the tests of this folder import what stands in `tests/deps/agents`: for `node --import`.

import { register } from "node:module";

register("./packages-hook.mjs", import.meta.url);
