// One call: a message in, an answer out, at once or as a promise. A promise of ours always
// settles: tasks are polled here, inside try and catch, so that even a panic rejects it. Each is
// polled in its own caller's asynchronous context, whoever woke it.

import type { CallOptions, Failure } from "../types.js";
import { after } from "./after.js";
import { contextHere, type InContext } from "./context.js";
import { enter, glue, wakeBy } from "./instance.js";
import { dropPending, finish, sent } from "./message.js";
import { Reply } from "./reply.js";

/** The operations by number; the other side is `wasm/call.rs`. */
export const Op = {
  ls: 0,
  read: 1,
  readRaw: 2,
  grep: 3,
  glob: 4,
  write: 5,
  edit: 6,
  delete: 7,
  upload: 8,
  download: 9,
  execute: 10,
  capability: 11,
} as const;

/** Makes a result of an answer that tells of success. */
export type Unpack<T> = (reply: Reply) => T;

/** A refusal as a result. */
export function failure(reply: Reply): Failure {
  const refusal = reply.refusal();
  const result: Failure = { error: refusal.message, code: refusal.code };
  if (refusal.retryAfterMs >= 0) result.retryAfterMs = refusal.retryAfterMs;
  if (refusal.thrown)
    hide(
      result,
      enter(() => glue.reply_cause()),
    );
  return result;
}

/** The cause is there to be asked for, not to be printed or compared with everything else. */
function hide(result: Failure, cause: unknown): void {
  Object.defineProperty(result, "cause", { value: cause, enumerable: false });
}

/** Reads the last answer. */
export function received<T>(unpack: Unpack<T>, at?: number): T | Failure {
  const reply = new Reply(at);
  return reply.u8() === 0 ? unpack(reply) : failure(reply);
}

/** A handle in an answer, or the refusal as a TypeError. */
export function madeHandle(what: string): number {
  const answer = received((reply) => ({ handle: reply.u32() }));
  if (!("handle" in answer)) throw new TypeError(`${what}: ${(answer as Failure).error}`);
  return answer.handle;
}

const NO_LIMIT = -1;

/** The milliseconds that a call may take, as wasm is told of them. */
export function limitOf(options?: CallOptions): number {
  return options?.timeoutMs ?? NO_LIMIT;
}

/** Calls and answers at once. */
export function now<T>(
  handle: number,
  operation: number,
  unpack: Unpack<T>,
  limit = NO_LIMIT,
): T | Failure {
  const length = finish();
  sent();
  const at = enter(() => glue.call_now(handle, operation, length, limit));
  return received(unpack, at);
}

interface Waiting {
  inContext: InContext;
  settle(at: number): void;
  fail(error: unknown): void;
}

const waiting = new Map<number, Waiting>();

/** Wasm asks for a poll of a task. */
function wake(task: number): void {
  queueMicrotask(() => {
    const who = waiting.get(task);
    if (!who) return;
    let at: number;
    try {
      at = who.inContext(() => enter(() => glue.task_poll(task)));
    } catch (error) {
      waiting.delete(task);
      forget(task);
      who.fail(error);
      return;
    }
    if (at === 0) return;
    waiting.delete(task);
    who.settle(at);
  });
}

/** Lets a task go; after a panic its future may be beyond dropping, which must not matter. */
function forget(task: number): void {
  try {
    enter(() => glue.task_cancel(task));
  } catch {
    // It stays where it is; nobody polls it again.
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
    return Promise.reject(error);
  }
  return new Promise((resolve, reject) => {
    const signal = options?.signal;
    const limit = options?.timeoutMs;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const giveUp = (error: string) => {
      waiting.delete(task);
      done();
      forget(task);
      resolve({ error, code: "timeout" });
    };
    const aborted = () =>
      giveUp("The call was cancelled by its signal; a change that was under way may have happened");
    const done = () => {
      if (timer !== undefined) clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    };
    waiting.set(task, {
      inContext: contextHere(),
      settle(at) {
        done();
        try {
          resolve(received(unpack, at));
        } catch (error) {
          reject(error);
        }
      },
      fail(error) {
        done();
        reject(error);
      },
    });
    signal?.addEventListener("abort", aborted);
    if (limit !== undefined) {
      const late = `The call took longer than its ${limit} ms (timeoutMs); a change that was under way may have happened`;
      timer = after(limit, () => giveUp(late));
    }
  });
}

/** Calls and answers with a promise. */
export function later<T>(
  handle: number,
  operation: number,
  unpack: Unpack<T>,
  options?: CallOptions,
): Promise<T | Failure> {
  if (options?.signal?.aborted) {
    dropPending();
    return Promise.resolve({
      error: "The call was cancelled by its signal before it began",
      code: "timeout",
    });
  }
  const length = finish();
  sent();
  return settled(
    () => glue.call_start(handle, operation, length, limitOf(options)),
    unpack,
    options,
  );
}
