// A Worker without flags: every driver but that of deepagents, whose tools use `Buffer`.

import { light } from "../drivers/light.mjs";
import { answer } from "./answer.mjs";

export default { fetch: (request, env) => answer(request, env, light) };
