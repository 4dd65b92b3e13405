// Runs seeds in the page, and steps through their histories.

import { draw } from "/draw.js";
import init, { bugs, simulate } from "/kitbag_simulation.js";

const $ = (id) => document.getElementById(id);
let report;
let shown = 0;

function show() {
  const tell = (text) => {
    $("detail").textContent = text;
  };
  $("history").replaceChildren(draw(report, shown, tell));
}

function run() {
  const seed = Number($("seed").value);
  report = JSON.parse(simulate(seed, $("bug").value));
  shown = report.calls.length;
  $("world").textContent = `Seed ${seed}: ${report.world}`;
  const good = report.wrong.length === 0;
  $("verdict").className = good ? "good" : "bad";
  $("verdict").textContent = good
    ? `The history fits the model: ${report.calls.length} calls, ${report.faults.length} faults.`
    : `The history contradicts the model. ${report.wrong.join("\n")}`;
  show();
}

function step(to) {
  shown = Math.min(Math.max(to, 0), report.calls.length);
  show();
  const last = report.calls[shown - 1];
  $("detail").textContent = last
    ? `call ${shown - 1}: ${last.name} ${last.about} → ${last.outcome}`
    : "Before the first call.";
}

await init();
for (const name of bugs().split(" ")) $("bug").append(new Option(name, name));
const asked = new URLSearchParams(location.search);
if (asked.has("seed")) $("seed").value = asked.get("seed");
if (asked.has("bug")) $("bug").value = asked.get("bug");
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
$("bug").addEventListener("change", run);
$("next").addEventListener("click", () => {
  $("seed").value = Number($("seed").value) + 1;
  run();
});
$("first").addEventListener("click", () => step(0));
$("back").addEventListener("click", () => step(shown - 1));
$("step").addEventListener("click", () => step(shown + 1));
$("last").addEventListener("click", () => step(report.calls.length));
run();
