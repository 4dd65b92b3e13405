// What kitbag adds to a host's way of running commands, so that the host need not: a time limit,
// a limit of output that splits no character, marked error output, and an answer whatever the
// callback does: throw, hang, or answer nonsense.

import { messageOf } from "./core/checks.js";
import type { ExecuteResponse } from "./types.js";

/** What a command's callback may answer. */
export interface CommandOutput {
  stdout?: string | Uint8Array;
  stderr?: string | Uint8Array;
  /** Both, where they are one; used in place of the two above. */
  output?: string | Uint8Array;
  exitCode?: number | null;
  /** Whether the callback cut the output itself. */
  truncated?: boolean;
}

/** The limits of a command. */
export interface CommandLimits {
  timeoutMs: number;
  maxOutputBytes: number;
  /** Aborts when the time is up, or nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** Runs a command, somewhere. */
export type Runner = (command: string, limits: CommandLimits) => unknown;

/** A command under way: its answer, which never rejects, and a way to give it up. */
export interface UnderWay {
  result: Promise<ExecuteResponse>;
  cancel(): void;
}

/** So long a callback may take to hand over what there is, after it was told to stop. */
const GRACE_MS = 1000;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return decoder.decode(value);
  return "";
}

/** The first bytes of a text, cut between two characters. */
export function cut(text: string, maxBytes: number): { text: string; truncated: boolean } {
  // A UTF-16 unit takes three bytes at most.
  if (text.length * 3 <= maxBytes) return { text, truncated: false };
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  if (read >= text.length) return { text, truncated: false };
  return { text: text.slice(0, read), truncated: true };
}

/** Output and marked error output as one text. */
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

/** Begins a command by `run`, within limits. */
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
    const timer = setTimeout(
      () => {
        late = true;
        controller.abort();
        grace = setTimeout(() => settle(failed("")), GRACE_MS);
      },
      Math.min(timeoutMs, 2 ** 31 - 1),
    );
    const limits = { timeoutMs, maxOutputBytes, signal: controller.signal };
    // In a promise, so that a callback that throws at once is one that rejects.
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
  return { result, cancel: () => controller.abort() };
}
