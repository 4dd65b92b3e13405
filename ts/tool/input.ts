// The arguments of a tool call as a message. A model's input comes parsed, or as JSON text, which
// the host parses. `src/wasm/tools.rs` reads the message; `src/tool/input.rs` knows what the
// arguments mean.

import { kindOf, messageOf } from "../core/checks.js";
import { putBool, putF64, putLongText, putU8, putU32 } from "../core/message.js";

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

/** Writes the arguments of a call. */
export function putArguments(given: Arguments): void {
  putBool(typeof given !== "string");
  if (typeof given === "string") {
    putLongText(given);
    return;
  }
  putU32(given.length);
  for (const [name, value] of given) {
    putLongText(name);
    putValue(value);
  }
}

function putValue(value: unknown): void {
  switch (typeof value) {
    case "boolean":
      putU8(1);
      putBool(value);
      return;
    case "bigint":
    case "number": {
      const number = Number(value);
      // JSON has no other numbers.
      putU8(Number.isFinite(number) ? 2 : 0);
      if (Number.isFinite(number)) putF64(number);
      return;
    }
    case "string":
      putU8(3);
      putLongText(value);
      return;
    case "object":
      putU8(value === null ? 0 : Array.isArray(value) ? 4 : 5);
      return;
    default:
      putU8(0);
  }
}
