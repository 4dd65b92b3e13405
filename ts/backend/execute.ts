// What kitbag adds to the host's way of running commands: a time limit, an output limit that does
// not split a character, marked error output, and a result even if the callback throws, hangs or
// returns something invalid.

import { messageOf } from "../core/checks.js";
import type { CommandLimits, CommandOutput } from "../core/command.js";
import type { ExecuteResponse } from "../types.js";

/** Runs a command. */
export type Runner = (command: string, limits: CommandLimits) => unknown;

/** A running command: its result, which never rejects, and a function that cancels it. */
export interface UnderWay {
  result: Promise<ExecuteResponse>;
  cancel(): void;
}

/** Time in which a callback can still return its partial output after the abort. */
const GRACE_MS = 1000;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return decoder.decode(value);
  return "";
}

/** Cuts a text to at most `maxBytes` bytes of UTF-8, between two characters. */
export function cut(text: string, maxBytes: number): { text: string; truncated: boolean } {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  if (text.length * 3 <= maxBytes) return { text, truncated: false };
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  if (read >= text.length) return { text, truncated: false };
  return { text: text.slice(0, read), truncated: true };
}

/** Joins output and marked error output. */
function combined({ stdout, stderr, output }: CommandOutput): string {
  if (output !== undefined) return textOf(output);
  const errors = textOf(stderr).replace(/\n$/, "");
  const marked = errors === "" ? "" : errors.replace(/^/gm, "[stderr] ");
  const plain = textOf(stdout);
  if (marked === "") return plain;
  return plain === "" || plain.endsWith("\n") ? plain + marked : `${plain}\n${marked}`;
}

function limited(answer: CommandOutput, maxBytes: number): ExecuteResponse {
  const all = combined(answer);
  const { text, truncated } = cut(all, maxBytes);
  const code = answer.exitCode;
  return {
    output: truncated ? `${text}\n\n... Output truncated at ${maxBytes} bytes.` : text,
    exitCode: typeof code === "number" && Number.isInteger(code) ? code : null,
    truncated: truncated || answer.truncated === true,
  };
}

function failed(output: string, exitCode = 1): ExecuteResponse {
  return { output, exitCode, truncated: false };
}

function isOutput(answer: unknown): answer is CommandOutput {
  if (typeof answer !== "object" || answer === null) return false;
  const { stdout, stderr, output, exitCode } = answer as CommandOutput;
  const isText = (value: unknown) =>
    value === undefined ||
    value === null ||
    typeof value === "string" ||
    value instanceof Uint8Array;
  return (
    isText(stdout) &&
    isText(stderr) &&
    isText(output) &&
    [stdout, stderr, output, exitCode].some((value) => value !== undefined)
  );
}

/** Starts a command through `run`, with limits. A `timeoutMs` of 0 is no limit. */
export function underLimits(
  run: Runner,
  command: string,
  timeoutMs: number,
  maxOutputBytes: number,
): UnderWay {
  if (command.trim() === "") {
    const answer = failed("Error: Command must be a non-empty string.");
    return { result: Promise.resolve(answer), cancel() {} };
  }
  const controller = new AbortController();
  let cancel = () => controller.abort();
  const result = new Promise<ExecuteResponse>((resolve) => {
    let late = false;
    let grace: ReturnType<typeof setTimeout> | undefined;
    const sentence = `Error: Command timed out after ${(timeoutMs / 1000).toFixed(1)} seconds.`;
    const settle = (answer: ExecuteResponse) => {
      clearTimeout(timer);
      clearTimeout(grace);
      if (!late) return resolve(answer);
      const seen = answer.output === "" ? "" : `\n\nOutput so far:\n${answer.output}`;
      resolve({ output: sentence + seen, exitCode: 124, truncated: answer.truncated });
    };
    const end = () => {
      late = true;
      controller.abort();
      grace = setTimeout(() => settle(failed("")), GRACE_MS);
    };
    const timer = timeoutMs > 0 ? setTimeout(end, Math.min(timeoutMs, 2 ** 31 - 1)) : undefined;
    // A host that does not heed the signal would keep the timer, and with it the process, for long.
    cancel = () => {
      clearTimeout(timer);
      controller.abort();
      grace ??= setTimeout(() => settle(failed("")), GRACE_MS);
    };
    const limits = { timeoutMs, maxOutputBytes, signal: controller.signal };
    // Inside a promise, so that a callback that throws is handled like one that rejects.
    Promise.resolve()
      .then(() => run(command, limits))
      .then((answer) => {
        if (isOutput(answer)) return limited(answer, maxOutputBytes);
        return failed(
          "Error executing command: the execute callback must answer { output, exitCode } or { stdout, stderr, exitCode }",
        );
      })
      .catch((error: unknown) => failed(late ? "" : `Error executing command: ${messageOf(error)}`))
      .then(settle);
  });
  return { result, cancel: () => cancel() };
}
