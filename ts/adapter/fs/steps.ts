// An operation is written once, as a generator that yields the calls of the backend that it needs, and
// run in three ways: with promises, with a callback, and at once. The last works where the backend
// returns its results and no promises of them.

/** An operation that yields calls and is resumed with their results. */
export type Steps<T> = Generator<() => unknown, T, unknown>;

/** One call of a backend, as a step. */
export function* ask<T>(call: () => T): Steps<Awaited<T>> {
  return (yield call) as Awaited<T>;
}

/** An operation that needs no call. */
// biome-ignore lint/correctness/useYield: it has the form of those that do
export function* plainly<T>(work: () => T): Steps<T> {
  return work();
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | undefined)?.then === "function";

/** Runs an operation at once. */
export function now<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) {
    let answer: unknown;
    try {
      answer = step.value();
      if (isThenable(answer)) {
        // Its outcome is not waited for, and must not end the process.
        answer.then(undefined, () => undefined);
        throw new TypeError("this needs a promise: use fs.promises or a callback");
      }
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

async function rest<T>(steps: Steps<T>, first: IteratorResult<() => unknown, T>): Promise<T> {
  let step = first;
  while (!step.done) {
    let answer: unknown;
    try {
      answer = await step.value();
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

/** Runs an operation with a promise. */
export async function later<T>(steps: Steps<T>): Promise<T> {
  return rest(steps, steps.next());
}

const isArgument = (error: unknown) =>
  /^ERR_(INVALID|OUT_OF_RANGE)/.test(String((error as { code?: string } | undefined)?.code));

/**
 * Runs an operation and calls back. A wrong argument is thrown at once, as by Node; what the callback
 * itself throws is an uncaught exception of the host.
 */
export function withCallback<T>(steps: Steps<T>, callback: (error: unknown, value?: T) => void) {
  let first: IteratorResult<() => unknown, T>;
  try {
    first = steps.next();
  } catch (error) {
    if (isArgument(error)) throw error;
    queueMicrotask(() => callback(error));
    return;
  }
  rest(steps, first).then(
    (value) => queueMicrotask(() => (value === undefined ? callback(null) : callback(null, value))),
    (error) => queueMicrotask(() => callback(error)),
  );
}
