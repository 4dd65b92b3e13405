// Two devices with files of their own, a bucket, and a switch that takes a device off the line. What both
// changed at the same place, a person settles.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { samples } from "../code/samples";
import { type Conflict, type Device, devices } from "../sync/device";
import { CodeAside, docs } from "../ui/code";
import { Diff } from "../ui/difference";
import { counted } from "../ui/format";
import { Icon } from "../ui/icons";
import { address } from "../ui/route";
import "../style/sync.css";

const all = signal<Device[]>([]);
const failed = signal("");

function state({ online, busy, waiting, conflicts, said }: Device): [kind: string, words: string] {
  const { size } = waiting.value;
  if (!online.value) {
    return ["offline", size ? `offline, ${counted(size, "changed file")} to sync` : "offline"];
  }
  if (conflicts.value.length > 0) {
    return ["conflict", `${counted(conflicts.value.length, "conflict")} to settle`];
  }
  // Before its first run it is not known whether it is.
  return busy.value || size > 0 || said.value === "" ? ["busy", "syncing"] : ["synced", "in sync"];
}

function Settle({
  device,
  conflict: { path, mine, theirs },
}: {
  device: Device;
  conflict: Conflict;
}) {
  const isOffline = !device.online.value;
  return (
    <div class="to-settle" data-conflict={path} role="group" aria-label={`Conflict of ${path}`}>
      <p>
        <b>{path}</b> was changed here and in the bucket at the same place. The bucket's lines (−),
        and those of {device.name} (+):
      </p>
      <Diff before={theirs} after={mine} />
      <div class="buttons">
        <button
          type="button"
          class="primary"
          data-do="both"
          disabled={isOffline}
          onClick={() => void device.settle(path, "both")}
        >
          Keep both
        </button>
        <button
          type="button"
          data-do="mine"
          disabled={isOffline}
          onClick={() => void device.settle(path, "a")}
        >
          Take {device.name}'s
        </button>
        <button
          type="button"
          data-do="theirs"
          disabled={isOffline}
          onClick={() => void device.settle(path, "b")}
        >
          Take the bucket's
        </button>
      </div>
    </div>
  );
}

function Pane({ device }: { device: Device }) {
  const [kind, words] = state(device);
  const { name } = device;
  const isEmpty = device.paths.value.length === 0;
  return (
    <article class="call device" data-device={name} data-state={kind} aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span class="state" role="status">
          {words}
        </span>
        <label class="switch">
          <input
            type="checkbox"
            data-do="offline"
            checked={!device.online.value}
            onChange={() => device.switch()}
          />
          Offline
        </label>
      </header>
      <div class="pick">
        <select
          aria-label={`File of ${name}`}
          value={device.shown.value}
          onChange={({ currentTarget }) => void device.show(currentTarget.value)}
        >
          {device.paths.value.map((path) => (
            <option key={path}>{path}</option>
          ))}
        </select>
        <button
          type="button"
          class="icon-button"
          title="New file"
          aria-label={`New file of ${name}`}
          data-do="new"
          onClick={() => void device.create()}
        >
          <Icon name="plus" />
        </button>
        <button
          type="button"
          class="icon-button"
          title="Delete the file"
          aria-label={`Delete ${device.shown.value} of ${name}`}
          data-do="delete"
          disabled={isEmpty}
          onClick={() => void device.remove()}
        >
          <Icon name="trash" />
        </button>
      </div>
      <textarea
        rows={9}
        spellcheck={false}
        aria-label={`${device.shown.value} of ${name}`}
        value={device.text.value}
        // A run takes some milliseconds, and may bring another text.
        readOnly={device.busy.value || isEmpty}
        onInput={({ currentTarget }) => {
          currentTarget.value = device.type(currentTarget.value);
        }}
      />
      {device.conflicts.value.map((conflict) => (
        <Settle key={conflict.path} device={device} conflict={conflict} />
      ))}
      <p class="muted last">Last sync: {device.said.value || "not yet"}</p>
    </article>
  );
}

export default function SyncView() {
  useEffect(() => {
    devices().then(
      (made) => {
        all.value = made;
      },
      (error) => {
        failed.value = (error as Error).message;
      },
    );
  }, []);
  return (
    <div class="split no-side with-aside">
      <section class="centre" aria-label="Sync">
        <div class="heading">
          <h1>Work offline, lose nothing</h1>
          <p>
            Each device has files of its own and syncs them with one bucket. Take both offline, edit
            the same file, and bring them back: edits of different lines are merged, and of the same
            lines a person decides. <a href={docs("sync.html")}>How it works</a>
          </p>
        </div>
        <div class="controls">
          <a class="button" href={address("sync")} target="_blank" rel="noreferrer">
            <Icon name="tabs" size={16} /> Two more in a second tab
          </a>
        </div>
        {failed.value && (
          <p class="error pad" role="alert">
            {failed.value}
          </p>
        )}
        <div class="scroll devices">
          {all.value.map((device) => (
            <Pane key={device.name} device={device} />
          ))}
        </div>
      </section>
      <CodeAside sample={samples.sync} />
    </div>
  );
}
