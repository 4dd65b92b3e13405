// What hosts with a disk get of this folder; pages and Workers get nothing (`#warm`).

import { prompt } from "../prompt.js";
import { WarmFinder } from "./finder.js";
import { Share } from "./warm.js";

export const warmHere = { prompt, Share, WarmFinder };
