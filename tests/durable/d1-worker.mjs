// Runs inside workerd: the conformance suite and the races on a D1 binding.

import { runConformance } from "../../pkg/dist/conformance.js";
import * as index from "../../pkg/dist/workerd/indexed.js";
import {
  begin,
  D1Backend,
  SqlBackend,
  StateBackend,
  undo,
  withPolicy,
} from "../../pkg/dist/workerd.js";
import { histories } from "../lib/histories.mjs";
import { outline } from "./outline.mjs";
import { plans, searchHistories } from "./search-index.mjs";
import { writers } from "./search-index-writers.mjs";

const sendTo = (database) => (sql, params) =>
  database
    .prepare(sql)
    .bind(...params)
    .all();

/** A `check` that counts, as `Tally` has it. */
function counting() {
  const seen = { passed: 0, failures: [] };
  const check = (what, holds, found) => {
    if (holds) seen.passed += 1;
    else seen.failures.push(`${what}: ${JSON.stringify(found)?.slice(0, 400)}`);
  };
  return { seen, check };
}

const work = {
  async conformance(env) {
    let last = 0;
    await new D1Backend({ database: env.DB }).migrate();
    await new D1Backend({ database: env.DB }).migrate();
    return runConformance(
      ({ writeMode }) =>
        new D1Backend({ database: env.DB, namespace: `case-${++last}`, writeMode }),
      { turns: { begin, undo } },
    );
  },
  async index(env) {
    let last = 0;
    const make = () => new D1Backend({ database: env.DB, namespace: `index-${++last}` });
    return histories({ ...index, begin, StateBackend }, make, { seeds: 12 });
  },
  async search(env) {
    const given = {
      dialect: "sqlite",
      query: sendTo(env.OWN),
      make: (options) => new SqlBackend({ dialect: "sqlite", migrate: true, ...options }),
      seeds: 6,
    };
    const seen = await searchHistories(given);
    const counted = counting();
    await plans(counted, "D1", given);
    await writers(counted, "D1", { withPolicy }, given);
    return { ...seen, plans: counted.seen };
  },
  async outline(env) {
    const { seen, check } = counting();
    const query = sendTo(env.OLD);
    const make = (query) => new SqlBackend({ query, dialect: "sqlite", namespace: "user-7" });
    await outline({ check }, "D1", "sqlite", query, make);
    return seen;
  },
  async edits(env, url) {
    const writer = url.searchParams.get("writer");
    const backend = new D1Backend({ database: env.DB, namespace: "edits" });
    let refused = 0;
    for (let edit = 0; edit < 50; edit++) {
      const answer = await backend.edit("/log.txt", "start\n", `start\n${writer}-${edit}\n`);
      if (answer.error !== undefined) refused += 1;
    }
    return { refused };
  },
  async start(env) {
    return new D1Backend({ database: env.DB, namespace: "edits" }).write("/log.txt", "start\n");
  },
  async log(env) {
    return new D1Backend({ database: env.DB, namespace: "edits" }).read("/log.txt", 0, 100_000);
  },
  async create(env, url) {
    const { writer, path } = Object.fromEntries(url.searchParams);
    const backend = new D1Backend({ database: env.DB, namespace: "creates" });
    return backend.write(path, `writer ${writer}`);
  },
  async look(env, url) {
    const backend = new D1Backend({ database: env.DB, namespace: "creates" });
    return backend.read(url.searchParams.get("path"));
  },
};

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    try {
      return Response.json(await work[url.pathname.slice(1)](env, url));
    } catch (error) {
      return new Response(error?.stack ?? String(error), { status: 500 });
    }
  },
};
