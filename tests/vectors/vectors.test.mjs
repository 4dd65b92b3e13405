// Each recorded case on a fresh StateBackend of the built package.

import { StateBackend } from "../lib/kitbag.mjs";
import { replayVectors } from "./replay.mjs";

replayVectors((options) => new StateBackend(options));
