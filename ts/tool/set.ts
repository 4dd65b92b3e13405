// The tool sets of WebAssembly: their options, and what they offer.

import chunk from "#chunk/tools";
import { received } from "../core/call.js";
import { kindOf, type Options, refused, shown } from "../core/checks.js";
import { enter, glue } from "../core/instance.js";
import * as put from "../core/message.js";
import { instead } from "../core/nearest.js";
import type { Failure as Refused } from "../types.js";
import type { FileToolName, ToolPrompts } from "./prompts.js";
import { type About, LIMITS, TABLE } from "./table.js";
import type { FileTool, FileToolsOptions } from "./types.js";

const NAMES: readonly string[] = TABLE.map(({ name }) => name);

const collected = new FinalizationRegistry<number>((set) => {
  try {
    glue.tools_drop(set);
  } catch {
    // The whole instance is gone.
  }
});

/** Refuses a name that no tool has, and names the tool that is probably meant. */
function knownTool(of: Options, option: string, name: unknown): void {
  if (NAMES.includes(name as string)) return;
  const text = typeof name === "string" ? name : "";
  throw new TypeError(
    `${of.of}: option "${option}" names ${typeof name === "string" ? shown(name) : kindOf(name)}, which is no tool; ${instead(text, NAMES, "tools")}`,
  );
}

/** Creates a tool set with these options; it is released with the object. */
export function makeSet(of: Options, options: FileToolsOptions | undefined): { id: number } {
  const asked = of.raw("tools");
  if (typeof asked === "string" && NAMES.includes(asked)) {
    throw new TypeError(
      `${of.of}: option "tools" must be "all" or an array of ${NAMES.join(", ")}, not "${asked}"`,
    );
  }
  const names =
    asked === "all"
      ? NAMES
      : of.checked(
          "tools",
          `"all" or an array of ${NAMES.join(", ")}`,
          (value): value is string[] => Array.isArray(value),
        );
  for (const name of names ?? []) knownTool(of, "tools", name);
  const example = '{ read_file: "Reads a page of a file." }';
  const descriptions = Object.entries(of.record("customToolDescriptions", example) ?? {});
  for (const [name, text] of descriptions) {
    knownTool(of, "customToolDescriptions", name);
    if (typeof text !== "string") of.refuse("customToolDescriptions", "texts by tool", text);
  }
  const limit = (name: keyof typeof LIMITS) => of.amount(name) ?? LIMITS[name];
  const orNever = (name: "toolTokenLimitBeforeEvict" | "humanMessageTokenLimitBeforeEvict") => {
    const count = limit(name);
    return options?.[name] === null ? -1 : count;
  };
  const read = of.boolean("requireReadBeforeEdit", true);
  const results = orNever("toolTokenLimitBeforeEvict");
  const messages = orNever("humanMessageTokenLimitBeforeEvict");
  const timeout = limit("maxExecuteTimeout");
  const prompt = of.text("systemPrompt");
  of.done();
  const bad = refused(() => {
    put.begin();
    put.putBool(read);
    for (const count of [results, messages, timeout]) put.putF64(count);
    put.putBool(prompt !== undefined);
    if (prompt !== undefined) put.putLongText(prompt);
    put.putBool(names !== undefined);
    if (names) {
      put.putU32(names.length);
      for (const name of names) put.putText(name);
    }
    put.putU32(descriptions.length);
    for (const [name, text] of descriptions) {
      put.putText(name);
      put.putLongText(text as string);
    }
  });
  if (bad) throw new TypeError(`createFileTools: ${bad.error}`);
  const length = put.finish();
  put.sent();
  chunk.load();
  enter(() => glue.tools_new(length));
  const made = received((reply) => ({ id: reply.u32() }));
  if (!("id" in made)) throw new TypeError(`createFileTools: ${(made as Refused).error}`);
  collected.register(made, made.id);
  return made;
}

/** The system prompt and the tools of a set, over a backend that can do this. */
export function describe(set: number, able: { shell: boolean; overwrites: boolean }) {
  enter(() => glue.tools_describe(set, able.shell));
  const answer = received((reply) => {
    const systemPrompt = reply.text();
    const tools = Array.from({ length: reply.u32() }, () => {
      const name = reply.text() as FileToolName;
      const about = TABLE.find((tool) => tool.name === name) as About;
      const { title } = about;
      const effect = name === "write_file" && able.overwrites ? "destroys" : about.effect;
      const description = reply.text();
      const inputSchema = JSON.parse(reply.text()) as FileTool["inputSchema"];
      return { name, title, effect, description, inputSchema };
    });
    return { systemPrompt, tools };
  });
  if (!("tools" in answer)) throw new Error((answer as Refused).error);
  return answer;
}

/** Replaces the short texts, except for those that the caller has set. */
export function retell(
  described: ReturnType<typeof describe>,
  prompts: ToolPrompts,
  options: FileToolsOptions | undefined,
): void {
  const names = described.tools.map(({ name }) => name);
  described.systemPrompt = options?.systemPrompt ?? prompts.system(names);
  for (const tool of described.tools) {
    tool.description =
      options?.customToolDescriptions?.[tool.name] ?? prompts.describe(tool.name, names);
  }
}
