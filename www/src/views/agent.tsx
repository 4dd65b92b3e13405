// The first view: the tree, and beside it what the scripted agent does to it.

import { signal } from "@preact/signals";
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
import { Icon } from "../ui/icons";
import { go } from "../ui/route";
import { type Filter, Stream } from "../ui/stream";
import { Tree } from "../ui/tree";

const filter = signal<Filter>("all");
const FILTERS: Array<[Filter, string]> = [
  ["all", "All"],
  ["changes", "Changes"],
  ["refused", "Refused"],
];

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
      <label class="select">
        <span>Speed</span>
        <select
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
      <span class="progress" aria-live="polite">
        {finished.value ? "Finished" : `${position.value} of ${script.length}`}
      </span>
    </div>
  );
}

/** On a phone the stream has the room. */
const wide = matchMedia("(min-width: 720px)").matches;

export function AgentView() {
  const last = agent.calls.value.at(-1);
  const touched = last && last.state !== "running" ? pathOf(last) : undefined;
  return (
    <div class="split with-aside">
      <details class="side" aria-label="Files" open={wide}>
        <summary>
          <Icon name="folder" size={15} /> Files
        </summary>
        <Tree touched={touched} onOpen={(path) => go("files", path)} />
      </details>
      <section class="centre" aria-label="Agent">
        <div class="heading">
          <h1>An agent at work, in this page</h1>
          <p>
            One tree over memory, IndexedDB and OPFS. A scripted agent repairs a small project in
            it, under rules.
          </p>
        </div>
        <Controls />
        <Stream calls={agent.calls} filter={filter.value} />
      </section>
      <CodeAside sample={samples.agent} />
    </div>
  );
}
