// The tool sets of WebAssembly: their options, and what they offer.

import chunk from "#chunk/tools";
import { received } from "../core/call.js";
import { kindOf, type Options, shown } from "../core/checks.js";
import { DescribeGiven, ToolsGiven } from "../core/descriptions.js";
import { create, pack, take, type Values } from "../core/given.js";
import { enter, glue } from "../core/instance.js";
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
  const told = Object.entries(of.record("customToolDescriptions", example) ?? {});
  const descriptions = told.map(([tool, text]) => {
    knownTool(of, "customToolDescriptions", tool);
    if (typeof text !== "string") of.refuse("customToolDescriptions", "texts by tool", text);
    return { tool, text };
  });
  const limit = (name: keyof typeof LIMITS) => of.amount(name) ?? LIMITS[name];
  const orNever = (name: "toolTokenLimitBeforeEvict" | "humanMessageTokenLimitBeforeEvict") => {
    const count = limit(name);
    return options?.[name] === null ? undefined : count;
  };
  const values = {
    ...take(of, ToolsGiven),
    tools: names as Values<typeof ToolsGiven>["tools"],
    descriptions: descriptions as Values<typeof ToolsGiven>["descriptions"],
    resultTokens: orNever("toolTokenLimitBeforeEvict"),
    messageTokens: orNever("humanMessageTokenLimitBeforeEvict"),
    maxExecuteTimeout: limit("maxExecuteTimeout"),
  };
  of.done();
  chunk.load();
  const made = { id: create("createFileTools", ToolsGiven, values, glue.tools_new) };
  collected.register(made, made.id);
  return made;
}

/** The system prompt and the tools of a set, over a backend that can do this. */
export function describe(set: number, able: { shell: boolean; overwrites: boolean }) {
  const { length } = pack("createFileTools", DescribeGiven, { shell: able.shell });
  enter(() => glue.tools_describe(set, length));
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
