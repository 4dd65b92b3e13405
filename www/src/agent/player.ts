// Plays the script: one call after another, with pauses for the eye, which can be stopped, stepped
// and started again.

import { computed, signal } from "@preact/signals";
import { announceChange } from "../tree/changes";
import { memory, tree } from "../tree/mounts";
import { Agent } from "./calls";
import { chartPath, memoryPath, project, reportPath } from "./project";
import { script } from "./script";

export const SPEEDS = { slow: 1800, normal: 750, fast: 0 } as const;
export type Speed = keyof typeof SPEEDS;

export const agent = new Agent();
export const speed = signal<Speed>("normal");
export const paused = signal(false);
/** Number of the next step. */
export const position = signal(0);
export const running = signal(false);
export const finished = computed(() => position.value >= script.length);

let wake: (() => void) | undefined;
let single = false;
let run = 0;
let busy: Promise<unknown> = Promise.resolve();

/** Resolves when the next step may begin. */
function turn(delay: number): Promise<void> {
  // A step that was asked for while the last call ran.
  if (single) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = paused.value ? undefined : setTimeout(done, delay);
    function done() {
      clearTimeout(timer);
      wake = undefined;
      resolve();
    }
    wake = done;
  });
}

/** The project as it was, and nothing that an earlier run wrote. */
async function reset() {
  memory.restore({});
  memory.uploadFiles(
    Object.entries(project).map(([path, text]) => [path, new TextEncoder().encode(text)]),
  );
  for (const path of [memoryPath, reportPath, chartPath]) await tree.value.delete(path);
  announceChange();
}

export async function play() {
  const mine = ++run;
  wake?.();
  for (const call of agent.calls.value) call.question?.answer(false);
  await busy;
  if (mine !== run) return;
  running.value = true;
  paused.value = false;
  position.value = 0;
  agent.clear();
  await reset();
  for (const [at, step] of script.entries()) {
    if (at > 0) {
      do await turn(SPEEDS[speed.value]);
      while (paused.value && !single && mine === run);
    }
    if (mine !== run) return;
    single = false;
    busy = agent.run(step.tool, step.input, step.why);
    await busy;
    if (mine !== run) return;
    position.value = at + 1;
  }
  running.value = false;
}

export function pause() {
  paused.value = !paused.value;
  wake?.();
}

/** Makes one call and stops again. */
export function step() {
  if (finished.value || !running.value) return;
  paused.value = true;
  single = true;
  wake?.();
}
