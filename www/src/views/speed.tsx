// The same calls on three storages in memory, in turn, in a worker.

import { signal } from "@preact/signals";
import { samples } from "../code/samples";
import type { Engine, Message, Task } from "../speed/worker";
import { CodeAside } from "../ui/code";
import { millis } from "../ui/format";
import "../style/speed.css";

const SIZES = [1_000, 10_000, 50_000];
const ENGINES: Array<[Engine, string]> = [
  ["kitbag", "kitbag"],
  ["deepagents", "deepagents StateBackend"],
  ["zenfs", "zenfs with a loop"],
];
const TASKS: Array<[Task, string, string]> = [
  ["grep", "Search", "grep for one word in all files"],
  ["glob", "Find", "glob **/*.ts"],
  ["pages", "Read in pages", "50 pages of a file with 20,000 lines"],
  ["longer", "Edit, longer", "10 edits that each add a line to that file"],
  ["shorter", "Edit, shorter", "10 edits that each remove one"],
];

type Figures = Partial<Record<Task, Partial<Record<Engine, { ms: number; answer: string }>>>>;

/** `slower` than kitbag, or `faster`. */
function compared(ratio: number) {
  const times = ratio < 1 ? 1 / ratio : ratio;
  return `${times < 10 ? times.toFixed(1) : Math.round(times)}× ${ratio < 1 ? "faster" : "slower"}`;
}

const size = signal(10_000);
const figures = signal<Figures>({});
const state = signal<"idle" | "busy" | "done" | "failed">("idle");
const doing = signal("");
let worker: Worker | undefined;

function hear(message: Message) {
  if (message.kind === "busy") doing.value = message.engine;
  if (message.kind === "measured") {
    const { engine, task, ms, answer } = message;
    const known = figures.value[task];
    figures.value = { ...figures.value, [task]: { ...known, [engine]: { ms, answer } } };
  }
  if (message.kind === "done" || message.kind === "failed") {
    state.value = message.kind;
    doing.value = message.kind === "failed" ? message.error : "";
    worker?.terminate();
    worker = undefined;
  }
}

function start() {
  worker?.terminate();
  figures.value = {};
  state.value = "busy";
  worker = new Worker(new URL("../speed/worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Message>) => hear(data);
  worker.onerror = ({ message }) => hear({ kind: "failed", error: message });
  worker.postMessage({ size: size.value });
}

function Bars({ task, title, about }: { task: Task; title: string; about: string }) {
  const measured = figures.value[task] ?? {};
  const longest = Math.max(...Object.values(measured).map(({ ms }) => ms), 0.01);
  const ours = measured.kitbag?.ms;
  const answers = new Set(Object.values(measured).map(({ answer }) => answer));
  const complete = Object.keys(measured).length === ENGINES.length;
  return (
    <section class="task" data-task={task} data-equal={complete ? answers.size === 1 : undefined}>
      <header>
        <h2>{title}</h2>
        <p class="muted">{about}</p>
        {complete && (
          <p class={answers.size === 1 ? "equal" : "error"}>
            {answers.size === 1 ? "equal answers" : "answers differ"}
          </p>
        )}
      </header>
      <dl>
        {ENGINES.map(([engine, name]) => {
          const own = measured[engine];
          const ratio = own && ours && engine !== "kitbag" ? own.ms / ours : undefined;
          return (
            <div key={engine} data-engine={engine} data-ms={own?.ms}>
              <dt>{name}</dt>
              <dd>
                <span class="track">
                  <span
                    class="bar-fill"
                    style={{ width: own ? `${Math.max((own.ms / longest) * 100, 0.6)}%` : "0" }}
                  />
                </span>
                <span class="value">{own ? millis(own.ms) : "–"}</span>
                <span class="ratio">{ratio ? compared(ratio) : ""}</span>
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

export default function SpeedView() {
  const busy = state.value === "busy";
  return (
    <div class="split no-side with-aside">
      <section class="centre" aria-label="Speed">
        <div class="heading">
          <h1>The same calls, measured here</h1>
          <p>
            Files are made in this page and given to each storage in turn, in a worker. The bars are
            medians of three runs; a search or read that takes longer than 0.3 s runs once.
          </p>
        </div>
        <div class="controls">
          <div class="segments" role="group" aria-label="Number of files">
            {SIZES.map((count) => (
              <button
                key={count}
                type="button"
                aria-pressed={size.value === count}
                disabled={busy}
                onClick={() => {
                  size.value = count;
                }}
              >
                {count.toLocaleString("en")}
              </button>
            ))}
          </div>
          <button type="button" class="primary" disabled={busy} onClick={start} data-do="measure">
            {state.value === "done" ? "Measure again" : "Measure"}
          </button>
          <span class="progress" role="status" data-state={state.value}>
            {busy ? `Measuring ${doing.value} …` : state.value === "done" ? "Finished" : ""}
          </span>
        </div>
        {state.value === "failed" && (
          <p class="error pad" role="alert">
            {doing.value}
          </p>
        )}
        <div class="scroll tasks" role="group" aria-label="Figures" tabIndex={0}>
          {TASKS.map(([task, title, about]) => (
            <Bars key={task} task={task} title={title} about={about} />
          ))}
        </div>
      </section>
      <CodeAside sample={samples.speed} />
    </div>
  );
}
