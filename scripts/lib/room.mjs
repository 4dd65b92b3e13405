// A function that finds out whether there is room on the stack, added to the primary module. Its frame is large,
// and an engine makes sure of the room for a frame before it enters a function; but the code that needs the
// frame is never reached, so a call takes some nanoseconds. JavaScript can ask only by calls inside one
// another, which took a tenth of a small write (2026-11-30).

import { HEAD, numberAt, numberOf, sectionsOf } from "./sections.mjs";

/** The name by which `ts/core/instance.ts` calls it. */
const NAME = "stack_room";
/** Numbers of eight bytes that its frame holds. */
const NUMBERS = 1536;

const TYPE = 1;
const FUNCTIONS = 3;
const EXPORTS = 7;
const CODE = 10;

const I32 = 0x7f;
const F64 = 0x7c;
const FUNCTION_TYPE = 0x60;

const LOCAL_GET = 0x20;
const CALL = 0x10;
const I32_CONST = 0x41;
const F64_CONST = 0x44;
const IF = 0x04;
const ELSE = 0x05;
const END = 0x0b;
const I32_LT_S = 0x48;
const I32_SUB = 0x6b;
const F64_ADD = 0xa0;
const F64_NEG = 0x9a;

/**
 * The body of the function with this number: with 0 it returns, with a number above it calls itself with one
 * less, and with one below it would need its frame: each sum waits for all calls behind it.
 */
function body(own) {
  const call = [CALL, ...numberOf(own)];
  const zero = [F64_CONST, ...new Array(8).fill(0)];
  const code = [
    ...[0, LOCAL_GET, 0, I32_CONST, 0, I32_LT_S, IF, F64],
    ...new Array(NUMBERS).fill([I32_CONST, 0, ...call]).flat(),
    ...new Array(NUMBERS - 1).fill(F64_ADD),
    ...[ELSE, LOCAL_GET, 0, IF, F64],
    ...[LOCAL_GET, 0, I32_CONST, 1, I32_SUB, ...call, F64_NEG],
    ...[ELSE, ...zero, END, END, END],
  ];
  return [...numberOf(code.length), ...code];
}

/** A module with that function. It has the last number, so that no other one changes. */
export function withRoom(wasm) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm));
  const sections = [...sectionsOf(wasm)];
  const countIn = (kind) => {
    const found = sections.find((section) => section.kind === kind);
    if (!found) throw new Error(`the module has no section ${kind}`);
    return numberAt(found.content, 0);
  };
  const [types] = countIn(TYPE);
  const [functions] = countIn(FUNCTIONS);
  const own = imports.filter(({ kind }) => kind === "function").length + functions;
  const more = {
    [TYPE]: [FUNCTION_TYPE, 1, I32, 1, F64],
    [FUNCTIONS]: numberOf(types),
    [EXPORTS]: [NAME.length, ...Buffer.from(NAME), 0, ...numberOf(own)],
    [CODE]: body(own),
  };
  const parts = sections.map(({ kind, bytes, content }) => {
    if (!(kind in more)) return bytes;
    const [count, at] = numberAt(content, 0);
    const now = Buffer.concat([
      Buffer.from(numberOf(count + 1)),
      content.subarray(at),
      Buffer.from(more[kind]),
    ]);
    return Buffer.concat([Buffer.from([kind, ...numberOf(now.length)]), now]);
  });
  return Buffer.concat([wasm.subarray(0, HEAD.length), ...parts]);
}
