// The arguments of a tool call as a message. A model's input comes parsed, or as JSON text, which
// the host parses. `src/tool/input.rs` knows what the
// arguments mean.

import { kindOf, messageOf } from "../core/checks.js";
import { ModelInput, ModelValue } from "../core/descriptions.js";
import { type Formed, formed } from "../core/given.js";

/** The arguments by name, or why there are none. */
type Arguments = Array<[name: string, value: unknown]> | string;

/** Reads the input of a call. Nothing, null and an empty text are no arguments. */
export function argumentsOf(input: unknown): Arguments {
  let value = input;
  if (typeof value === "string") {
    if (value.trim() === "") return [];
    try {
      value = JSON.parse(value);
    } catch (error) {
      return `The input is not valid JSON: ${messageOf(error)}`;
    }
    // Some models send the object as a JSON string.
    if (typeof value === "string") {
      if (value.trim() === "") return [];
      value = objectIn(value);
    }
  }
  if (value === undefined || value === null) return [];
  if (typeof value !== "object" || Array.isArray(value)) {
    return `The input must be a JSON object with the tool's parameters, not ${kindOf(value)}`;
  }
  return Object.entries(value);
}

/** The object in a JSON text, or the text. */
function objectIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

/** The arguments of a call as they are packed. */
export function inputOf(given: Arguments): Formed {
  if (typeof given === "string") return formed(ModelInput.wrong, { why: given });
  const members = given.map(([name, value]) => ({ name, value: formOf(value) }));
  return formed(ModelInput.members, { members });
}

function formOf(value: unknown): Formed {
  switch (typeof value) {
    case "boolean":
      return formed(ModelValue.flag, { is: value });
    case "bigint":
    case "number":
      // JSON has no other numbers.
      if (!Number.isFinite(Number(value))) break;
      return formed(ModelValue.number, { is: Number(value) });
    case "string":
      return formed(ModelValue.text, { is: value });
    case "object":
      if (value === null) break;
      return formed(Array.isArray(value) ? ModelValue.array : ModelValue.object, {});
  }
  return formed(ModelValue.null, {});
}
