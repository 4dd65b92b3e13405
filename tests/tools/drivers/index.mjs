// Every driver by name.

import * as deepagents from "./deepagents.mjs";
import { light } from "./light.mjs";

export const drivers = { ...light, deepagents };
