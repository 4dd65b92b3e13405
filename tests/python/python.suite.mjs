// The Python package, as it is published, in CPython with wasmtime and deepagents of PyPI.

import { readFileSync } from "node:fs";
import { judged } from "../../scripts/lib/outputs.mjs";

/** What pytest wrote for machines. Skipped tests count as failed. */
function parsed(xml) {
  const [, fields] = /<testsuite ([^>]*)>/.exec(xml) ?? [];
  const number = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(fields)?.[1]);
  const failed = number("failures") + number("errors") + number("skipped");
  const failures = xml
    .split("<testcase ")
    .filter((one) => /<(failure|error|skipped)\b/.test(one))
    .map((one) => /\bname="([^"]*)"/.exec(one)?.[1] ?? "a test without a name");
  return { passed: number("tests") - failed, failed, failures };
}

async function run(ctx) {
  const python = process.env.KITBAG_PYTHON;
  const answers = ctx.cache("python/npm-answers.json");
  const report = ctx.cache("python/pytest.xml");
  await ctx.must("node", [ctx.at("tests/python/npm-answers.mjs"), answers]);
  const env = { KITBAG_NPM_ANSWERS: answers, PYTHONDONTWRITEBYTECODE: "1" };
  const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", `--junitxml=${report}`];
  const done = await ctx.run(python, [...args, ctx.at("tests/python")], { env });
  const tests = parsed(readFileSync(report, "utf8"));
  const types = await ctx.run(python, ["-m", "mypy", "--config-file", "pyproject.toml", "src"], {
    cwd: ctx.at("python"),
    env: { MYPY_CACHE_DIR: ctx.cache("python/mypy") },
  });
  const bench = await ctx.run(python, [ctx.at("tests/python/bench.py")]);
  const all = ctx.sum([
    judged(tests.passed, tests.failed, tests.failures, done, "pytest"),
    judged(types.code === 0 ? 1 : 0, 0, [], types, "mypy"),
    judged(bench.code === 0 ? 1 : 0, 0, [], bench, "bench"),
  ]);
  return { ...all, notes: bench.output.trim().split("\n") };
}

export default {
  about: "the Python package: answers of the npm package, deepagents, hostile storages, speed",
  needs: ["npm", "build", "component", "python"],
  uses: ["cargo"],
  seconds: 40,
  run,
};
