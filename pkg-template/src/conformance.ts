// `kitbag/conformance`: the behaviours that any backend must show, for kitbag's own backends and
// for whoever writes one. Plain code without a test framework, so that it runs in Node, in a
// Worker and in a page alike. Which cases are run depends on what the backend promises
// (`capability`); a backend without that property is taken to promise everything.

import { batches } from "./conformance/batches.js";
import { deleting } from "./conformance/deleting.js";
import { editing } from "./conformance/editing.js";
import { globbing } from "./conformance/globbing.js";
import { grepping } from "./conformance/grepping.js";
import { hostile } from "./conformance/hostile.js";
import { listing } from "./conformance/listing.js";
import { paths } from "./conformance/paths.js";
import { racing } from "./conformance/racing.js";
import { reading } from "./conformance/reading.js";
import { type Case, PROMISES, type Promised, Subject } from "./conformance/subject.js";
import { writing } from "./conformance/writing.js";
import { after } from "./core/after.js";
import type { BackendProtocolV2, Capability } from "./types.js";

export type { Case, Promised } from "./conformance/subject.js";

/** What a factory is asked for: an empty backend whose `write` behaves so. */
export interface Wanted {
  writeMode: "create" | "overwrite";
}

export interface ConformanceOptions {
  /** What the backend promises, where it does not say so itself by `capability`. */
  capability?: Partial<Capability>;
  /**
   * Whether behaviours beyond deepagents' own protocol are asked for: `code` beside `error`, the
   * fifth argument of `grep`, refusals instead of exceptions. By default, of backends that have
   * `capability`.
   */
  extras?: boolean;
  /** The modes of `write` that the factory can make. Both by default. */
  writeModes?: ReadonlyArray<Wanted["writeMode"]>;
  /** Only the cases whose name contains one of these. */
  only?: readonly string[];
  /** Cases to leave out by name, each with the reason. */
  except?: Readonly<Record<string, string>>;
  /** After so many milliseconds a case has failed. 30,000 unless said otherwise. */
  timeoutMs?: number;
  /** Called after each case. */
  report?(name: string, failure: string | undefined): void;
  /** Called with each backend once its case is over. */
  dispose?(backend: BackendProtocolV2): unknown;
}

export interface ConformanceReport {
  passed: number;
  failed: number;
  /** One text a failure, beginning with the name of its case. */
  failures: string[];
  /** Cases that the backend does not promise enough for, or that `except` named. */
  leftOut: string[];
}

/** Every case, in the order in which they are run. */
export function conformanceCases(): Case[] {
  return [
    ...paths,
    ...listing,
    ...reading,
    ...writing,
    ...editing,
    ...deleting,
    ...globbing,
    ...grepping,
    ...batches,
    ...racing,
    ...hostile,
  ];
}

/** Runs the cases, each on a fresh and empty backend that `makeBackend` gives. */
export async function runConformance(
  makeBackend: (wanted: Wanted) => BackendProtocolV2 | Promise<BackendProtocolV2>,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  const report: ConformanceReport = { passed: 0, failed: 0, failures: [], leftOut: [] };
  const modes = options.writeModes ?? ["create", "overwrite"];
  for (const one of conformanceCases()) {
    if (options.only && !options.only.some((part) => one.name.includes(part))) continue;
    const writeMode = one.writeMode ?? "create";
    if (options.except?.[one.name] !== undefined || !modes.includes(writeMode)) {
      report.leftOut.push(one.name);
      continue;
    }
    const failure = await runCase(one, () => makeBackend({ writeMode }), options);
    if (failure === LEFT_OUT) report.leftOut.push(one.name);
    else if (failure === undefined) report.passed += 1;
    else {
      report.failed += 1;
      report.failures.push(`${one.name}: ${failure}`);
    }
    if (failure !== LEFT_OUT) options.report?.(one.name, failure);
  }
  return report;
}

const LEFT_OUT = "left out";

async function runCase(
  one: Case,
  make: () => BackendProtocolV2 | Promise<BackendProtocolV2>,
  options: ConformanceOptions,
): Promise<string | undefined> {
  let backend: BackendProtocolV2 | undefined;
  try {
    backend = await make();
    const promised = promisedBy(backend, options);
    if (one.needs && !one.needs(promised)) return LEFT_OUT;
    await within(options.timeoutMs ?? 30_000, one.run(new Subject(backend, promised)));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    if (backend) await options.dispose?.(backend);
  }
}

function promisedBy(backend: BackendProtocolV2, options: ConformanceOptions): Promised {
  const own = (backend as { capability?: Capability }).capability;
  return {
    ...PROMISES,
    ...own,
    ...options.capability,
    extras: options.extras ?? own !== undefined,
    deletes: typeof backend.delete === "function",
    batches:
      typeof backend.uploadFiles === "function" && typeof backend.downloadFiles === "function",
  };
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const reason = new Error(`did not end within ${milliseconds} ms`);
    timer = after(milliseconds, () => reject(reason));
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
