// Lets the tests of this folder import what is in a set of `tests/deps` (set.mjs): for `node --import`.

import { register } from "node:module";

register("./packages-hook.mjs", import.meta.url);
