// A conversation: the model speaks and calls tools until it has nothing more to do. Its calls are
// those of an agent, under the same rules as the scripted one.

import { signal } from "@preact/signals";
import { Agent, type Call } from "../agent/calls";
import { PROVIDERS, type ProviderId, type Setting } from "./providers";

export type Line = { kind: "user" | "model"; text: string } | { kind: "call"; id: number };

export const agent = new Agent();
export const lines = signal<Line[]>([]);
export const busy = signal(false);
export const trouble = signal("");
/** The call whose arguments are arriving now. */
export const forming = signal<{ name: string; characters: number } | undefined>(undefined);

const MOST_TURNS = 40;
let messages: object[] = [];
let speaks: ProviderId | undefined;
let abort: AbortController | undefined;

const add = (line: Line) => {
  lines.value = [...lines.value, line];
};

function hear(part: string) {
  const last = lines.value.at(-1);
  if (last?.kind === "model") {
    lines.value = [...lines.value.slice(0, -1), { kind: "model", text: last.text + part }];
  } else add({ kind: "model", text: part });
}

export const stop = () => {
  abort?.abort();
  for (const call of agent.calls.value) call.question?.answer(false);
};

async function runCall(name: string, input: Record<string, unknown>): Promise<Call> {
  const before = agent.calls.value.length;
  const done = agent.run(name, input);
  const call = agent.calls.value[before];
  if (call) add({ kind: "call", id: call.id });
  return done;
}

export async function say(text: string, id: ProviderId, setting: Setting) {
  if (speaks !== id) messages = [];
  speaks = id;
  const provider = PROVIDERS[id];
  const { systemPrompt: system, tools } = agent.files;
  abort = new AbortController();
  const { signal: cancelled } = abort;
  busy.value = true;
  trouble.value = "";
  add({ kind: "user", text });
  const kept = messages.length;
  messages.push(provider.user(text));
  try {
    for (let turn = 0; ; turn++) {
      if (turn === MOST_TURNS) throw new Error(`Stopped after ${MOST_TURNS} answers of the model.`);
      const uses = await provider.turn({
        setting,
        system,
        tools,
        messages,
        signal: cancelled,
        onText: hear,
        onCall: (name, characters) => {
          forming.value = { name, characters };
        },
      });
      forming.value = undefined;
      if (uses.length === 0) break;
      const results = [];
      for (const { id: use, name, input } of uses) {
        const { text: seen = "", state } = await runCall(name, input);
        results.push({ id: use, text: seen, isError: state === "failed" || state === "refused" });
      }
      messages.push(...provider.answers(results));
      cancelled.throwIfAborted();
    }
  } catch (error) {
    // A turn that broke off would confuse the next one.
    messages.length = kept;
    if (!cancelled.aborted) trouble.value = error instanceof Error ? error.message : String(error);
  } finally {
    forming.value = undefined;
    busy.value = false;
  }
}
