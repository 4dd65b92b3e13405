// One call into WebAssembly: a message in, a reply out, synchronously or as a promise. A promise
// always settles: tasks are polled inside try and catch, so even a panic rejects it. Each task is
// polled in the asynchronous context of its own caller, no matter what woke it.

import type { CallOptions, ErrorText, Failure } from "../types.js";
import { after } from "./after.js";
import { contextHere, follows } from "./context.js";
import { enter, glue, wakeBy } from "./instance.js";
import { dropPending, finish, sent } from "./message.js";
import { CANCELLED, late } from "./pace.js";
import { KitbagPanic, OutOfMemory } from "./panic.js";
import { Reply } from "./reply.js";
import { onAbort } from "./signals.js";

/** Converts a successful reply to a result. */
export type Unpack<T> = (reply: Reply) => T;

/** A failed reply as a result. */
export function failure(reply: Reply): Failure {
  const refusal = reply.refusal();
  const result: Failure = {
    error: (refusal.message || "The backend answered with an error that has no text") as ErrorText,
    code: refusal.code,
  };
  if (refusal.retryAfterMs >= 0) result.retryAfterMs = refusal.retryAfterMs;
  if (refusal.thrown)
    hide(
      result,
      enter(() => glue.reply_cause()),
    );
  return result;
}

/** The cause can be read, but is not printed or compared with the other fields. */
function hide(result: Failure, cause: unknown): void {
  Object.defineProperty(result, "cause", { value: cause, enumerable: false });
}

/** Reads the last reply. */
export function received<T>(unpack: Unpack<T>, at?: number): T | Failure {
  const reply = new Reply(at);
  if (reply.u8() !== 0) return failure(reply);
  try {
    return unpack(reply);
  } catch (error) {
    if (error instanceof KitbagPanic) throw error;
    // No engine has strings of a gigabyte, and each has its own error for that.
    return {
      error:
        "The answer is larger than a string or a buffer of this host can be; ask for less at a time",
      code: "too_large",
    };
  }
}

/** The result of a call that the end of memory broke off; rethrows everything else. */
function brokenOff(error: unknown): Failure {
  if (!(error instanceof OutOfMemory)) throw error;
  const result: Failure = { error: error.message as ErrorText, code: "too_large" };
  hide(result, error);
  return result;
}

/** Returns the handle of a reply and what follows it; throws a failure as a TypeError. */
export function made<T>(what: string, rest: Unpack<T>): { handle: number; rest: T } {
  const answer = received((reply) => ({ handle: reply.u32(), rest: rest(reply) }));
  if (!("handle" in answer)) throw new TypeError(`${what}: ${(answer as Failure).error}`);
  return answer;
}

/** Returns the handle of a reply; throws a failure as a TypeError. */
export function madeHandle(what: string): number {
  return made(what, () => undefined).handle;
}

const NO_LIMIT = -1;

/** The time limit in milliseconds, as WebAssembly receives it; -1 for none. */
export function limitOf(options?: CallOptions): number {
  return options?.timeoutMs ?? NO_LIMIT;
}

/** Calls an operation synchronously. */
export function now<T>(
  handle: number,
  operation: number,
  unpack: Unpack<T>,
  limit = NO_LIMIT,
): T | Failure {
  try {
    const length = finish();
    sent();
    return received(
      unpack,
      enter(() => glue.call_now(handle, operation, length, limit)),
    );
  } catch (error) {
    return brokenOff(error);
  }
}

/** What polls each waiting task. */
const waiting = new Map<number, () => void>();

/** Called by WebAssembly when a task must be polled: also while it begins, before anybody waits for it. */
function wake(task: number): void {
  const again = waiting.get(task);
  if (again) again();
  else queueMicrotask(() => waiting.get(task)?.());
}

/**
 * Has a task polled whenever it is woken. Who wakes it may belong to another request of a Worker, and what the task
 * begins there would end with that request. So being woken only resolves a promise, whose continuation runs where
 * the call was made.
 */
function polled(task: number, settle: (at: number) => void, fail: (error: unknown) => void): void {
  const inContext = follows ? undefined : contextHere();
  const work = () => enter(() => glue.task_poll(task));
  const poll = () => {
    if (!waiting.has(task)) return;
    // Who wakes it meanwhile has it polled once more.
    listen();
    let at: number;
    try {
      at = inContext ? inContext(work) : work();
    } catch (error) {
      waiting.delete(task);
      forget(task);
      return fail(error);
    }
    if (at === 0) return;
    waiting.delete(task);
    settle(at);
  };
  const listen = () => {
    void new Promise<void>((resolve) => waiting.set(task, resolve)).then(poll);
  };
  listen();
}

/** Drops a task. After a panic dropping can fail; the task then stays and is never polled. */
function forget(task: number): void {
  try {
    enter(() => glue.task_cancel(task));
  } catch {
    // The task stays in memory and is never polled again.
  }
}

/**
 * Waits for what `start` began: a task, or, below zero, the place of an answer that is there already.
 */
export function settled<T>(
  start: () => number,
  unpack: Unpack<T>,
  options?: CallOptions,
): Promise<T | Failure> {
  wakeBy(wake);
  let task: number;
  try {
    task = enter(start);
    if (task < 0) return Promise.resolve(received(unpack, -task));
  } catch (error) {
    return new Promise((resolve) => resolve(brokenOff(error)));
  }
  return new Promise((resolve, reject) => {
    const signal = options?.signal;
    const limit = options?.timeoutMs;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const giveUp = (error: ErrorText) => {
      waiting.delete(task);
      done();
      forget(task);
      resolve({ error, code: "timeout" });
    };
    const aborted = () => giveUp(CANCELLED);
    const done = () => {
      if (timer !== undefined) clearTimeout(timer);
      silent?.();
    };
    const fail = (error: unknown) => {
      done();
      try {
        resolve(brokenOff(error));
      } catch (defect) {
        reject(defect);
      }
    };
    const settle = (at: number) => {
      done();
      try {
        resolve(received(unpack, at));
      } catch (error) {
        fail(error);
      }
    };
    polled(task, settle, fail);
    const silent = signal && onAbort(signal, aborted);
    if (limit !== undefined) {
      timer = after(limit, () => giveUp(late(limit)));
    }
  });
}

/** Reports a call that was refused here, so that the audit of a policy has a record of it. */
export function reportRefused(handle: number, operation: number, code = "invalid_argument"): void {
  // Without stack nothing can be called.
  if (code !== "unavailable") enter(() => glue.call_refused(handle, operation, code));
}

/** The result of a call whose signal had aborted before. */
export const NOT_BEGUN: Failure = {
  error: "The call was cancelled by its signal before it began" as ErrorText,
  code: "timeout",
};

/** Calls an operation and returns a promise. */
export function later<T>(
  handle: number,
  operation: number,
  unpack: Unpack<T>,
  options?: CallOptions,
  begin = (length: number) => glue.call_start(handle, operation, length, limitOf(options)),
): Promise<T | Failure> {
  if (options?.signal?.aborted) {
    dropPending();
    reportRefused(handle, operation, "timeout");
    return Promise.resolve({ ...NOT_BEGUN });
  }
  const length = finish();
  sent();
  return settled(() => begin(length), unpack, options);
}
