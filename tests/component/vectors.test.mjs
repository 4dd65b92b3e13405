// Each recorded case of `tests/vectors` on a fresh state of the component.

import { replayVectors } from "../vectors/replay.mjs";
import { instance } from "./load.mjs";
import { Protocol, stateOptions } from "./protocol.mjs";

const { Backend } = instance();

replayVectors((options) => new Protocol(Backend.state(stateOptions(options))));
