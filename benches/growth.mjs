// How StateBackend grows with the number of files: time and WebAssembly memory of each operation, in a
// process for each number, and the exponent that fits best. `read`, `write`, `edit` and `ls` of one
// directory must not grow: their exponent is near 0, that of a search near 1.

import { execFileSync } from "node:child_process";
import { median } from "./lib/compare.mjs";

const COUNTS = [100, 1_000, 10_000, 100_000, 1_000_000];
const SCRIPT = new URL("lib/growth-run.mjs", import.meta.url);

/** The slope of a line through the logarithms, by least squares. */
function exponent(xs, ys) {
  const [x, y] = [xs, ys].map((values) => values.map(Math.log));
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  const over = x.reduce((sum, one, at) => sum + (one - mx) * (y[at] - my), 0);
  return over / x.reduce((sum, one) => sum + (one - mx) ** 2, 0);
}

const digits = (value) => (value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 4);

async function run({ print }) {
  const columns = COUNTS.map((count) => {
    const rounds = count < 1_000_000 ? 3 : 1;
    const seen = Array.from({ length: rounds }, () =>
      JSON.parse(
        execFileSync(process.execPath, [SCRIPT.pathname, `${count}`], { encoding: "utf8" }),
      ),
    );
    return Object.fromEntries(
      Object.keys(seen[0]).map((name) => [name, median(seen.map((one) => one[name]))]),
    );
  });
  const heads = COUNTS.map((count) => count.toLocaleString("en"));
  print(`| files of 200 bytes | ${heads.join(" | ")} | exponent |`);
  print(`|---|${"---:|".repeat(COUNTS.length + 1)}`);
  for (const name of Object.keys(columns[0])) {
    const values = columns.map((column) => column[name]);
    // Below 10,000 files a search is shorter than what a call costs.
    const fitted = exponent(COUNTS.slice(2), values.slice(2));
    const cells = values.map((value) => value.toFixed(digits(value)));
    print(`| ${name} | ${cells.join(" | ")} | ${fitted.toFixed(2)} |`);
  }
}

export default { title: "StateBackend as it grows", needs: ["build"], run };
