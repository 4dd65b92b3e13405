// A Worker with `nodejs_compat`: deepagents, and LangChain as it is there.

import * as deepagents from "../drivers/deepagents.mjs";
import * as langchain from "../drivers/langchain.mjs";
import { answer } from "./answer.mjs";

const drivers = { deepagents, "langchain, middleware": langchain };

export default { fetch: (request, env) => answer(request, env, drivers) };
