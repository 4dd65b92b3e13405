// What the suites over durable backends share: counting checks, loading the built package and
// the packages they are tried with, and small words for tenants and races.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { histories } from "../lib/histories.mjs";

const require = createRequire(at("tests/deps/durable/package.json"));

/** The built package. */
export const kitbag = () => import(pathToFileURL(at("pkg/dist/node.js")).href);

/** The conformance suite that ships with it. */
export const conformance = async () => {
  const { runConformance } = await import(pathToFileURL(at("pkg/dist/conformance.js")).href);
  return runConformance;
};

/** A package of `tests/deps/durable`. */
export const dependency = (name) => import(pathToFileURL(require.resolve(name)).href);

/** A pool whose dying connections are heard: unheard, the event would end the process. */
export function pooled(pg, options) {
  class Client extends pg.Client {
    constructor(...args) {
      super(...args);
      this.on("error", () => {});
    }
  }
  const pool = new pg.Pool({ ...options, Client });
  pool.on("error", () => {});
  return pool;
}

/** Counts what held and what did not. */
export class Tally {
  passed = 0;
  failures = [];

  check(what, holds, seen) {
    if (holds) this.passed += 1;
    else {
      const shown = seen === undefined ? "" : `: saw ${JSON.stringify(seen)?.slice(0, 400)}`;
      this.failures.push(`${what}${shown}`);
      console.log(`FAIL ${what}${shown}`);
    }
    return holds;
  }

  /** Runs a part; what it throws is a failure and the other parts go on. */
  async part(what, run) {
    const began = performance.now();
    try {
      await run();
    } catch (error) {
      this.check(`${what}: ${error?.stack ?? error}`, false);
    }
    console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }

  /** Compares searches with an index with searches without. */
  async index(what, make, seeds) {
    await this.part(`search index on ${what}`, async () => {
      const index = await import(pathToFileURL(at("pkg/dist/indexed.js")).href);
      const seen = await histories({ ...(await kitbag()), ...index }, make, { seeds });
      this.passed += seen.searches;
      for (const failure of seen.failures) this.check(`${what}: ${failure}`, false);
      this.check(`${what}: the index excludes files`, seen.excluded > seeds, seen.excluded);
    });
  }

  /** Runs the conformance suite. */
  async conform(what, make, options = {}) {
    await this.part(`conformance of ${what}`, async () => {
      const runConformance = await conformance();
      const { begin, undo } = await kitbag();
      const report = await runConformance(make, { turns: { begin, undo }, ...options });
      this.passed += report.passed;
      for (const failure of report.failures) this.check(`${what}: ${failure}`, false);
      console.log(`${what}: ${report.passed} passed, left out: ${report.leftOut.join(", ")}`);
      if (report.passed === 0) this.check(`${what}: no case was run`, false);
    });
  }

  get result() {
    return { passed: this.passed, failed: this.failures.length, failures: this.failures };
  }
}

/** `count` writers with an instance each, 50 edits each of one file; nothing may be lost. */
export async function raceEdits(tally, what, backends, edits = 50, reader = backends[0]) {
  await tally.part(`${what}: ${backends.length} writers, ${edits} edits each`, async () => {
    const made = await backends[0].write("/log.txt", "start\n");
    tally.check(`${what}: the file is made`, made.error === undefined, made);
    const jobs = backends.map(async (backend, writer) => {
      let refused = 0;
      for (let edit = 0; edit < edits; edit++) {
        const answer = await backend.edit("/log.txt", "start\n", `start\n${writer}-${edit}\n`);
        if (answer.error !== undefined) refused += 1;
      }
      return refused;
    });
    const refused = (await Promise.all(jobs)).reduce((a, b) => a + b, 0);
    tally.check(`${what}: no edit is given up`, refused === 0, refused);
    const { content } = await reader.read("/log.txt", 0, 100_000);
    const lines = new Set(content.trim().split("\n"));
    let lost = 0;
    for (let writer = 0; writer < backends.length; writer++) {
      for (let edit = 0; edit < edits; edit++) if (!lines.has(`${writer}-${edit}`)) lost += 1;
    }
    tally.check(`${what}: no edit is lost`, lost === 0, lost);
    tally.check(
      `${what}: none is there twice`,
      lines.size === backends.length * edits + 1,
      lines.size,
    );
  });
}

/** Everyone creates the same files at once; each has one winner, whose content it is. */
export async function raceCreates(tally, what, backends, files = 20) {
  await tally.part(`${what}: ${backends.length} writers create the same files`, async () => {
    for (let file = 0; file < files; file++) {
      const path = `/race/${file}.txt`;
      const answers = await Promise.all(
        backends.map((backend, writer) => backend.write(path, `writer ${writer}`)),
      );
      const winners = answers.flatMap((answer, writer) =>
        answer.error === undefined ? [writer] : [],
      );
      const refused = answers.filter((answer) => answer.code === "already_exists").length;
      const { content } = await backends[0].read(path);
      tally.check(
        `${what}: ${path} has one winner`,
        winners.length === 1 &&
          refused === backends.length - 1 &&
          content === `writer ${winners[0]}`,
        { answers, content },
      );
    }
  });
}
