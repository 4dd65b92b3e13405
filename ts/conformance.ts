// `kitbag/conformance`: tests of the behaviour that every backend must have, for kitbag's own and
// for others. Plain code without a test framework, so that it runs in Node, in a Worker and in a
// page. `capability` selects the cases; a backend without that property is expected to have the
// guarantees in `PROMISES`.

import { batches } from "./conformance/batches.js";
import { deleting } from "./conformance/deleting.js";
import { Declared, deviationsOf } from "./conformance/deviations.js";
import { editing } from "./conformance/editing.js";
import { registered, type TestFunction } from "./conformance/frameworks.js";
import { globbing } from "./conformance/globbing.js";
import { grepping } from "./conformance/grepping.js";
import { hostile } from "./conformance/hostile.js";
import { listing } from "./conformance/listing.js";
import { moving } from "./conformance/moving.js";
import { paths } from "./conformance/paths.js";
import { racing } from "./conformance/racing.js";
import { reading } from "./conformance/reading.js";
import { type Case, PROMISES, type Promised, Subject, type Turns } from "./conformance/subject.js";
import { turns } from "./conformance/turns.js";
import { writing } from "./conformance/writing.js";
import { after } from "./core/after.js";
import type { BackendProtocolV2, Capability } from "./types.js";

export type { Case as ConformanceCase } from "./conformance/subject.js";

/** Argument of the factory, which must return an empty backend. */
type Wanted = {
  /** What the backend's `write` must do if the file exists. */
  writeMode: "create" | "overwrite";
};

/** Options of `runConformance`. */
export interface ConformanceOptions {
  /** What the backend guarantees. Overrides the backend's own `capability`. */
  capability?: Partial<Capability>;
  /**
   * Whether to test behaviour that kitbag adds to deepagents' protocol: `code` beside `error`, the
   * fifth argument of `grep`, results instead of exceptions. Default: true if the backend has
   * `capability`.
   */
  extras?: boolean;
  /**
   * The modes of `write` that the factory supports. Default: both; for a factory without a parameter,
   * which is not told the mode, `"overwrite"` only if a second `write` of its backend succeeds.
   */
  writeModes?: ReadonlyArray<Wanted["writeMode"]>;
  /** Run only cases whose name contains one of these. Default: all. */
  only?: readonly string[];
  /**
   * Names of deviations that the backend declares, such as `"create-only-write"`; see
   * `conformanceDeviations`. Their cases run all the same: those that fail are reported in
   * `deviations`, and a deviation that no case shows is a failure. Default: none.
   */
  allow?: readonly string[];
  /** Cases to skip: their name, and the reason. Default: none. */
  except?: Readonly<Record<string, string>>;
  /** Time limit of a case, in milliseconds. Default 60,000. */
  timeoutMs?: number;
  /**
   * Time limit of a case with a pattern that takes exponential time in a bad engine, in
   * milliseconds. Default: the same as `timeoutMs`.
   */
  quickMs?: number;
  /**
   * kitbag's `{ begin, undo }`: turns over the backend are tested, too. The package has no other
   * reason to load kitbag here.
   */
  turns?: Turns;
  /** Called after each case; `failure` is undefined if it passed. */
  report?(name: string, failure: string | undefined): void;
  /** Called with each backend after its last case. */
  dispose?(backend: BackendProtocolV2): unknown;
}

/** Result of `runConformance`. */
export interface ConformanceReport {
  /** Number of passed cases. */
  passed: number;
  /** Number of failed cases. */
  failed: number;
  /** One message per failure, beginning with the name of the case. */
  failures: string[];
  /** Failures that a declared deviation explains: its name, and the failure. */
  deviations: string[];
  /** Skipped cases: the backend does not guarantee enough for them, or `except` named them. */
  leftOut: string[];
}

/** Returns every case, in the order in which they run. */
export function conformanceCases(): Case[] {
  return [
    ...paths,
    ...listing,
    ...reading,
    ...writing,
    ...editing,
    ...deleting,
    ...moving,
    ...globbing,
    ...grepping,
    ...batches,
    ...racing,
    ...hostile,
  ];
}

function casesOf(options: ConformanceOptions): Case[] {
  return options.turns ? [...conformanceCases(), ...turns] : conformanceCases();
}

/**
 * Runs the cases, each on a new, empty backend from `makeBackend`; cases that only read the same
 * files share one.
 */
export async function runConformance(
  makeBackend: (wanted: Wanted) => BackendProtocolV2 | Promise<BackendProtocolV2>,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  const report: ConformanceReport = {
    passed: 0,
    failed: 0,
    failures: [],
    deviations: [],
    leftOut: [],
  };
  const cases = casesOf(options);
  const declared = new Declared(cases, options.allow ?? []);
  const subjects = new Subjects(makeBackend, options);
  for (const one of cases) {
    if (options.only && !options.only.some((part) => one.name.includes(part))) continue;
    const failure = await verdict(one, subjects, options);
    if (failure === LEFT_OUT) {
      report.leftOut.push(one.name);
      continue;
    }
    const deviation = declared.explain(one.name, failure !== undefined);
    if (failure === undefined) report.passed += 1;
    else if (deviation !== undefined) {
      report.deviations.push(`${deviation}: ${one.name}: ${failure}`);
    } else {
      report.failed += 1;
      report.failures.push(`${one.name}: ${failure}`);
    }
    options.report?.(one.name, deviation === undefined ? failure : undefined);
  }
  for (const name of declared.idle) {
    report.failed += 1;
    report.failures.push(idle(name));
  }
  await subjects.dispose();
  return report;
}

const idle = (name: string) =>
  `${name} is declared in \`allow\`, and the backend does not deviate: take the name out`;

/** The names for `allow`, each with the names of its cases. */
export function conformanceDeviations(): Record<string, readonly string[]> {
  return deviationsOf(conformanceCases());
}

/**
 * Registers every case as a test of a framework: `test` is that of `node:test`, Vitest, Jest or Bun,
 * or `Deno.test`. A last test fails if a declared deviation did not show, and prints which cases were
 * left out and which deviations showed.
 */
export function conformanceTests(
  test: TestFunction,
  makeBackend: (wanted: Wanted) => BackendProtocolV2 | Promise<BackendProtocolV2>,
  options: ConformanceOptions = {},
): void {
  const { only } = options;
  const cases = casesOf(options);
  const declared = new Declared(cases, options.allow ?? []);
  const told: string[] = [];
  for (const one of cases) {
    const { name } = one;
    if (only && !only.some((part) => name.includes(part))) continue;
    registered(test, name, options.timeoutMs ?? TIMEOUT_MS, async () => {
      // Each on its own, since a framework may run tests side by side.
      const subjects = new Subjects(makeBackend, options);
      const failure = await verdict(one, subjects, options).finally(() => subjects.dispose());
      if (failure === LEFT_OUT) {
        const reason = options.except?.[name];
        told.push(`left out: ${name}${reason === undefined ? "" : ` (${reason})`}`);
        return;
      }
      const deviation = declared.explain(name, failure !== undefined);
      if (deviation !== undefined) told.push(`deviation: ${deviation}: ${failure}`);
      else if (failure !== undefined) throw new Error(failure);
    });
  }
  registered(test, "conformance: declared deviations", TIMEOUT_MS, async () => {
    for (const line of told) console.info(line);
    if (declared.idle.length > 0) throw new Error(declared.idle.map(idle).join("; "));
  });
}

/** Generous, since machines that test are busy. */
const TIMEOUT_MS = 60_000;

const LEFT_OUT = "left out";

/** Runs a case, unless it is not wanted or the backend does not promise enough for it. */
async function verdict(
  one: Case,
  subjects: Subjects,
  options: ConformanceOptions,
): Promise<string | undefined> {
  const writeMode = one.writeMode ?? "create";
  if (options.except?.[one.name] !== undefined) return LEFT_OUT;
  if (!(await subjects.supports(writeMode))) return LEFT_OUT;
  return runCase(one, subjects, options);
}

async function runCase(
  one: Case,
  subjects: Subjects,
  options: ConformanceOptions,
): Promise<string | undefined> {
  let failure: string | undefined;
  try {
    const subject = await subjects.take(one);
    if (one.needs && !one.needs(subject.promised)) return LEFT_OUT;
    await within(limitOf(one, options), async () => {
      await subjects.fill(one);
      await one.run(subject);
    });
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  } finally {
    // After a failure a backend may be anything.
    if (!one.files || failure !== undefined) await subjects.dispose();
  }
  return failure;
}

/** Makes the backends, and keeps the one whose files the next case may read as well. */
class Subjects {
  readonly #make: (wanted: Wanted) => BackendProtocolV2 | Promise<BackendProtocolV2>;
  readonly #options: ConformanceOptions;
  #current: { subject: Subject; files: Case["files"]; filled: boolean } | undefined;

  constructor(
    make: (wanted: Wanted) => BackendProtocolV2 | Promise<BackendProtocolV2>,
    options: ConformanceOptions,
  ) {
    this.#make = make;
    this.#options = options;
  }

  /** Whether the factory makes backends with this mode of `write`. */
  async supports(writeMode: Wanted["writeMode"]): Promise<boolean> {
    const { writeModes } = this.#options;
    if (writeModes) return writeModes.includes(writeMode);
    if (writeMode === "create" || this.#make.length > 0) return true;
    const backend = await this.#make({ writeMode });
    try {
      await backend.write("/mode.txt", "first");
      return !(await backend.write("/mode.txt", "second"))?.error;
    } catch {
      return false;
    } finally {
      await this.#options.dispose?.(backend);
    }
  }

  /** The subject for a case: the current one if it has the same files, or a new one. */
  async take({ files, writeMode = "create" }: Case): Promise<Subject> {
    if (this.#current && files && this.#current.files === files) return this.#current.subject;
    await this.dispose();
    const backend = await this.#make({ writeMode });
    const subject = new Subject(backend, promisedBy(backend, this.#options), this.#options.turns);
    this.#current = { subject, files, filled: false };
    return subject;
  }

  /** Stores the files of a case, unless an earlier case did. */
  async fill({ files }: Case): Promise<void> {
    if (!this.#current || !files || this.#current.filled) return;
    await this.#current.subject.fill(files);
    this.#current.filled = true;
  }

  async dispose(): Promise<void> {
    const last = this.#current;
    this.#current = undefined;
    if (last) await this.#options.dispose?.(last.subject.backend);
  }
}

function limitOf(
  { quick }: Case,
  { timeoutMs = TIMEOUT_MS, quickMs = timeoutMs }: ConformanceOptions,
) {
  return quick ? quickMs : timeoutMs;
}

function promisedBy(backend: BackendProtocolV2, options: ConformanceOptions): Promised {
  const own = (backend as { capability?: Capability }).capability;
  return {
    ...PROMISES,
    ...own,
    ...options.capability,
    extras: options.extras ?? own !== undefined,
    deletes: typeof backend.delete === "function",
    moves: (["move", "copy", "append"] as const).every(
      (name) => typeof backend[name] === "function",
    ),
    batches:
      typeof backend.uploadFiles === "function" && typeof backend.downloadFiles === "function",
  };
}

async function within(milliseconds: number, work: () => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const began = Date.now();
  const reason = new Error(`did not end within ${milliseconds} ms`);
  const late = new Promise<never>((_, reject) => {
    timer = after(milliseconds, () => reject(reason));
  });
  try {
    await Promise.race([work(), late]);
    // No timer fires during a synchronous call.
    if (Date.now() - began > milliseconds) throw reason;
  } finally {
    clearTimeout(timer);
  }
}
