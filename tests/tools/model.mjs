// The scripted model, made of the packages in `tests/deps/agents`.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "langchain";
import { scriptedModels } from "../lib/model.mjs";

export const ScriptedModel = scriptedModels({ AIMessage, BaseChatModel });
