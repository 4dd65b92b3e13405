// kitbag/conformance on StateBackend wherever it runs, on deepagents' own backend for the part
// both share, and on a backend that is broken on purpose, which must fail.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { conformanceCases, runConformance } from "../../pkg/dist/conformance.js";
import { StateBackend as Theirs } from "../deps/latest/deepagents.mjs";
import { launch, pageOf, resultOf, serve } from "../lib/browser.mjs";
import { pageScript, workerModules } from "../lib/bundle.mjs";
import { begin, StateBackend, undo } from "../lib/kitbag.mjs";
import { startWorker } from "../lib/workerd.mjs";
import { committed, formatted, record } from "./record.mjs";

const pkg = fileURLToPath(new URL("../../pkg/", import.meta.url));

const RUN = `
  const turns = { begin, undo };
  const run = () => runConformance(({ writeMode }) => new StateBackend({ writeMode }), { turns });
`;

const turns = { begin, undo };

function passes({ passed, failed, failures, leftOut }, least) {
  assert.deepEqual(failures, []);
  assert.equal(failed, 0);
  assert.deepEqual(leftOut, []);
  assert.ok(passed >= least, `only ${passed} cases ran`);
}

test("the cases that are replayed in Rust are recorded from these", async () => {
  const why = "build the package and run `node tests/conformance/record.mjs`";
  assert.equal(formatted(await record()), committed(), why);
});

describe("StateBackend conforms", () => {
  test("there are many cases, each with a name of its own", () => {
    const names = conformanceCases().map(({ name }) => name);
    assert.ok(names.length >= 130, `${names.length}`);
    assert.equal(new Set(names).size, names.length);
  });

  for (const one of conformanceCases()) {
    test(`in Node: ${one.name}`, async () => {
      const seen = [];
      const report = await runConformance(({ writeMode }) => new StateBackend({ writeMode }), {
        only: [one.name],
        report: (name, failure) => name === one.name && seen.push(failure),
      });
      assert.deepEqual(seen, [undefined], report.failures.join("\n"));
    });
  }

  test("as a subclass, whose methods are called as they are", async () => {
    class Mine extends StateBackend {}
    passes(await runConformance(({ writeMode }) => new Mine({ writeMode }), { turns }), 138);
  });

  test("over a channel", async () => {
    const report = await runConformance(
      ({ writeMode }) => {
        let files = {};
        const channel = {
          read: () => files,
          send(update) {
            files = { ...files, ...update };
            for (const [path, file] of Object.entries(update))
              if (file === null) delete files[path];
          },
        };
        return new StateBackend({ channel, writeMode });
      },
      { turns },
    );
    passes(report, 138);
  });

  test("in workerd", async () => {
    const source = `
      import { begin, StateBackend, undo } from "./dist/workerd.js";
      import { runConformance } from "./dist/conformance.js";
      ${RUN}
      export default { async fetch() { return Response.json(await run()); } };
    `;
    const worker = await startWorker(await workerModules(source, pkg));
    try {
      passes(JSON.parse((await worker.fetch()).text), 138);
    } finally {
      await worker.stop();
    }
  });
});

describe("StateBackend conforms in Chromium", () => {
  let browser;
  let server;
  before(async () => {
    const source = `
      import { begin, StateBackend, undo } from "./dist/browser.js";
      import { runConformance } from "./dist/conformance.js";
      ${RUN}
      globalThis.done = run();
    `;
    server = await serve({
      "/": ["text/html", pageOf()],
      "/page.js": ["text/javascript", await pageScript(source, pkg)],
    });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("in a page", async () => passes(await resultOf(browser, `${server.origin}/`), 138));
});

describe("the suite tells good from bad", () => {
  const fresh = () => {
    const runtime = { state: { files: {} } };
    const theirs = new Theirs(runtime);
    // What a graph's reducer would do with the answers.
    const applied = (answer) => {
      for (const [path, file] of Object.entries(answer?.filesUpdate ?? {})) {
        if (file === null) delete runtime.state.files[path];
        else runtime.state.files[path] = file;
      }
      return answer;
    };
    const backend = {};
    for (const name of ["ls", "read", "readRaw", "grep", "glob", "write", "edit"]) {
      backend[name] = async (...args) => applied(await theirs[name](...args));
    }
    return backend;
  };

  test("deepagents' own backend shows most of what both promise", async () => {
    const report = await runConformance(fresh);
    // It overwrites, orders otherwise and counts characters for bytes; the rest it shows.
    assert.ok(report.passed >= 55, report.failures.join("\n"));
    assert.ok(report.failures.some((failure) => failure.startsWith("create is refused")));
  });

  const broken = {
    "loses edits": { edit: (path) => ({ path, occurrences: 1 }) },
    "finds nothing": { grep: () => ({ matches: [] }) },
    "lists out of order": {
      ls(path) {
        const answer = StateBackend.prototype.ls.call(this, path);
        return { files: answer.files?.reverse() };
      },
    },
    "overwrites what exists": {
      write(path, content) {
        StateBackend.prototype.delete.call(this, path);
        return StateBackend.prototype.write.call(this, path, content);
      },
    },
    throws: {
      read() {
        throw new Error("thrown");
      },
    },
    "never answers": { glob: () => new Promise(() => {}) },
  };
  for (const [how, methods] of Object.entries(broken)) {
    test(`a backend that ${how} fails`, async () => {
      const make = ({ writeMode }) => Object.assign(new StateBackend({ writeMode }), methods);
      const { failed } = await runConformance(make, { timeoutMs: 50 });
      assert.ok(failed > 0);
    });
  }
});
