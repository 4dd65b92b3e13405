// The first view: the tree, and beside it what the scripted agent does to it.

import { computed, signal } from "@preact/signals";
import { pathOf } from "../agent/calls";
import {
  agent,
  finished,
  pause,
  paused,
  play,
  position,
  running,
  SPEEDS,
  type Speed,
  speed,
  step,
} from "../agent/player";
import { script } from "../agent/script";
import { samples } from "../code/samples";
import { CodeAside } from "../ui/code";
import { Fold, narrow } from "../ui/fold";
import { counted } from "../ui/format";
import { Icon } from "../ui/icons";
import { address, go } from "../ui/route";
import { type Filter, Stream } from "../ui/stream";
import { Tree } from "../ui/tree";

const filter = signal<Filter>("all");
const FILTERS: Array<[Filter, string]> = [
  ["all", "All"],
  ["changes", "Changes"],
  ["refused", "Refused"],
];

/** What is happening now, in a few words. */
const now = computed(() => {
  if (finished.value) return "Finished";
  if (agent.calls.value.at(-1)?.state === "asking") return "Your turn";
  return `${Math.min(position.value + 1, script.length)} of ${script.length}`;
});

function Controls() {
  const ended = finished.value || !running.value;
  return (
    <div class="controls">
      <div class="group" role="group" aria-label="Playback">
        {ended ? (
          <button type="button" class="primary" onClick={() => void play()} data-do="replay">
            <Icon name="replay" size={16} /> Replay
          </button>
        ) : (
          <>
            <button type="button" onClick={pause} data-do="pause" aria-pressed={paused.value}>
              <Icon name={paused.value ? "play" : "pause"} size={16} />
              {paused.value ? "Continue" : "Pause"}
            </button>
            <button type="button" onClick={step} data-do="step">
              <Icon name="step" size={16} /> Step
            </button>
            <button
              type="button"
              class="icon-button"
              onClick={() => void play()}
              data-do="replay"
              aria-label="Replay from the start"
            >
              <Icon name="replay" size={16} />
            </button>
          </>
        )}
      </div>
      <Fold title="Speed and filter">
        <label class="select">
          <span>Speed</span>
          <select
            aria-label="Speed"
            value={speed.value}
            onChange={({ currentTarget }) => {
              speed.value = currentTarget.value as Speed;
            }}
          >
            {Object.keys(SPEEDS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <div class="segments" role="group" aria-label="Show">
          {FILTERS.map(([id, title]) => (
            <button
              key={id}
              type="button"
              aria-pressed={filter.value === id}
              onClick={() => {
                filter.value = id;
              }}
            >
              {title}
            </button>
          ))}
        </div>
      </Fold>
      <span class="progress" aria-live="polite">
        {now}
      </span>
    </div>
  );
}

/** What the run came to, and what to try next. */
function Outcome() {
  const calls = agent.calls.value;
  const count = (wanted: string) => calls.filter(({ state }) => state === wanted).length;
  const asked = calls.filter(({ rule }) => rule?.decision === "ask").length;
  return (
    <section class="outcome" aria-labelledby="outcome-title">
      <h2 id="outcome-title">The project is repaired</h2>
      <p>
        {counted(calls.length, "call")}: {count("ok")} done, {count("failed")} failed and reported
        to the agent, {count("refused")} refused by a rule. You decided about {asked}. Reload the
        page: all files are found again.
      </p>
      <p class="buttons">
        <a class="button" href={address("files", "/work/src/total.sh")}>
          See the repaired file
        </a>
        <a class="button" href={address("rules")}>
          Change a rule
        </a>
        <a class="button" href={address("files")}>
          Edit from two tabs
        </a>
        <a class="button" href={address("speed")}>
          Compare the speed
        </a>
      </p>
    </section>
  );
}

export function AgentView() {
  const last = agent.calls.value.at(-1);
  const touched = last && last.state !== "running" ? pathOf(last) : undefined;
  return (
    <div class="split with-aside">
      <details class="side" aria-label="Files" open={!narrow.value}>
        <summary>
          <Icon name="folder" size={15} /> Files
        </summary>
        <Tree touched={touched} onOpen={(path) => go("files", path)} />
      </details>
      <section class="centre" aria-label="Agent">
        <div class="heading">
          <h1>One file system for AI agents</h1>
          <p>
            kitbag joins memory, IndexedDB, OPFS, S3 and more into one tree, and rules decide what
            an agent may do there.{" "}
            <span class="wide-only">
              Here a scripted agent repairs a small project: each card is one tool call, with the
              text a model sees, the storage that answered and the rule that decided.
            </span>
          </p>
        </div>
        <Controls />
        <Stream calls={agent.calls} filter={filter.value} after={finished.value && <Outcome />} />
      </section>
      <CodeAside sample={samples.agent} />
    </div>
  );
}
