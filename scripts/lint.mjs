// `npm run lint` checks formatting and lint rules of every language; `npm run format` (`--fix`)
// fixes the formatting and what Biome can fix. It also checks which part of the code imports which, and
// that no layer is silent about a request.
// `.ci/run` runs the checks. The build type-checks the TypeScript, because it has the type
// declarations of the WebAssembly.

import { readFileSync } from "node:fs";
import { wrongArrows } from "./lib/arrows.mjs";
import { passed } from "./lib/checked.mjs";
import { COMPILED } from "./lib/component.mjs";
import { run } from "./lib/exec.mjs";
import { at, cache } from "./lib/paths.mjs";
import { silentMatches } from "./lib/requests.mjs";
import { ensureAll } from "./setup.mjs";

const fix = process.argv.includes("--fix");
const biome = at("node_modules/@biomejs/biome/bin/biome");
const clippy = ["clippy", "--all-targets", "--all-features", "--", "-D", "warnings"];
// The unit tests and the other tests of the crate are the same for both targets; these are for one alone.
const named = readFileSync(at("Cargo.toml"), "utf8").matchAll(/^name = "(wasm_\w+)"$/gm);
const ofWasm = [...named].flatMap(([, name]) => ["--test", name]);
const wasm = [
  ...["clippy", "--target", "wasm32-unknown-unknown", "--lib", ...ofWasm],
  ...clippy.slice(2),
];

const crates = ["tools/splitter", "tools/unpack", "tests/simulation", "benches/native"];
const tools = crates.map((name) => ["--manifest-path", at(name, "Cargo.toml")]);
const tool = (which, command, ...more) => ["cargo", [command, ...tools[which], ...more]];

const steps = fix
  ? [
      ["cargo", ["fmt", "--all"]],
      tool(0, "fmt"),
      tool(1, "fmt"),
      tool(2, "fmt"),
      tool(3, "fmt"),
      [process.execPath, [biome, "check", "--write"]],
    ]
  : [
      ["cargo", ["fmt", "--all", "--check"]],
      tool(0, "fmt", "--check"),
      tool(1, "fmt", "--check"),
      tool(2, "fmt", "--check"),
      tool(3, "fmt", "--check"),
      [process.execPath, [biome, "ci", "--error-on-warnings"]],
      ["cargo", clippy],
      ["cargo", wasm],
      tool(2, "clippy", "--target-dir", at("target/simulation"), "--", "-D", "warnings"),
      // As the build compiles it, and where: programs that run at compile time are compiled once.
      [
        "cargo",
        ["clippy", ...COMPILED, "--target-dir", cache("component-target"), ...clippy.slice(3)],
      ],
    ];

await ensureAll(["npm", "wasm-target", "rust-components"]);
let bad = 0;
for (const [command, args] of steps) {
  const { code } = await run(command, args, { show: true });
  if (code === 0) continue;
  bad += 1;
  const shown = command === process.execPath ? args[0].split("/").at(-1) : command;
  console.error(`lint: ${shown} ${args.slice(command === "cargo" ? 0 : 1).join(" ")} failed`);
}
if (!fix) {
  for (const line of [...wrongArrows(), ...silentMatches()]) {
    bad += 1;
    console.error(`lint: ${line}`);
  }
}
process.exitCode = bad > 0 ? 1 : 0;
if (!fix && bad === 0) passed("lint");
