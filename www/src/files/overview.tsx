// What is mounted, how the storage is, and what two tabs do to one file.

import { useSignal } from "@preact/signals";
import { OpfsBackend, S3Backend } from "kitbag";
import { useEffect } from "preact/hooks";
import { changed } from "../tree/changes";
import { addMount, freePath, mounts, removeMount } from "../tree/mounts";
import { tab } from "../tree/session";
import { bytes, counted } from "../ui/format";
import { health, heard, others, persist } from "../ui/health";
import { Icon } from "../ui/icons";
import { address } from "../ui/route";
import { MountMark } from "../ui/tree";
import { count, raise, readCount, retries } from "./counter";

function Counter() {
  const error = useSignal("");
  const busy = useSignal(false);
  const version = changed.value;
  useEffect(() => void readCount(), [version]);
  const { total, tabs } = count.value;
  const names = Object.keys(tabs);
  const sum = Object.values(tabs).reduce((all, one) => all + one, 0);
  const run = async (times: number) => {
    busy.value = true;
    error.value = (await raise(times)) ?? "";
    busy.value = false;
  };
  return (
    <section class="card" aria-labelledby="counter-title">
      <h2 id="counter-title">Two tabs, one file</h2>
      <p class="muted">
        Open a second tab and raise the counter in both. Each raise is an edit of{" "}
        <a href={address("files", "/memories/counter.txt")}>/memories/counter.txt</a>; an edit of a
        text that has changed is refused and tried again, so none is lost. Files of{" "}
        <a href={address("sync")}>two devices</a> are synced instead.
      </p>
      <p class="big" data-counter={total} aria-live="polite">
        {total.toLocaleString("en")}
      </p>
      {names.length > 0 && (
        <ul class="tallies">
          {names.map((name) => (
            <li key={name}>
              <span>{name === tab ? "this tab" : `tab ${name}`}</span> <b>{tabs[name]}</b>
            </li>
          ))}
          <li class={sum === total ? "good" : "error"}>
            <span>lost</span> <b>{sum - total}</b>
          </li>
          {retries.value > 0 && (
            <li>
              <span>tried again</span> <b>{retries.value}</b>
            </li>
          )}
        </ul>
      )}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={busy.value}
          onClick={() => run(1)}
          data-do="raise"
        >
          Raise
        </button>
        <button type="button" disabled={busy.value} onClick={() => run(100)} data-do="raise-100">
          Raise 100 times
        </button>
        <a class="button" href={address("files")} target="_blank" rel="noreferrer">
          <Icon name="tabs" size={16} /> Open a second tab
        </a>
      </div>
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
    </section>
  );
}

function Health() {
  const { usage, quota, persisted } = health.value;
  const open = Object.keys(others.value).length;
  const share = usage !== undefined && quota ? usage / quota : 0;
  return (
    <section class="card" aria-labelledby="health-title">
      <h2 id="health-title">Storage of this browser</h2>
      {usage === undefined || quota === undefined ? (
        <p class="muted">This browser does not say how much is used.</p>
      ) : (
        <>
          <p>
            {bytes(usage)} of {bytes(quota)} used
          </p>
          <meter min={0} max={1} value={Math.max(share, 0.004)} aria-label="Used storage" />
        </>
      )}
      <p class="line">
        {persisted
          ? "Kept: the browser does not clear it by itself."
          : "May be cleared by the browser."}
        {!persisted && (
          <button type="button" onClick={() => void persist()}>
            Ask to keep it
          </button>
        )}
      </p>
      <p class="muted">
        {open === 0 ? "No other tab is open." : `${counted(open, "other tab")} open.`}
      </p>
      {heard.value.length > 0 && (
        <ul class="heard" aria-label="Changes by other tabs">
          {heard.value.slice(0, 4).map(({ at, paths }) => (
            <li key={at}>
              <time>{new Date(at).toLocaleTimeString()}</time>{" "}
              <code>{paths.slice(0, 2).join(", ")}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function S3Form({ close }: { close(): void }) {
  const error = useSignal("");
  const busy = useSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const of = (name: string) => String(form.get(name) ?? "").trim();
    busy.value = true;
    try {
      const key = { accessKeyId: of("key"), secretAccessKey: of("secret") };
      const backend = new S3Backend({
        endpoint: of("endpoint"),
        region: of("region") || "us-east-1",
        bucket: of("bucket"),
        ...(of("prefix") ? { prefix: of("prefix") } : {}),
        credentials: key,
        retry: { attempts: 2 },
      });
      const { error: trouble } = await backend.ls("/");
      if (trouble) {
        error.value = trouble;
        return;
      }
      const about = `S3Backend: ${of("bucket")} at ${of("endpoint")}`;
      addMount({ path: freePath("s3"), kind: "s3", name: "S3", about, backend, removable: true });
      close();
    } catch (thrown) {
      error.value = thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      busy.value = false;
    }
  };
  return (
    <form class="s3" onSubmit={submit}>
      <label class="wide">
        Address of the server
        <input name="endpoint" type="url" placeholder="http://localhost:9000" required />
      </label>
      <label>
        Bucket <input name="bucket" required />
      </label>
      <label>
        Region <input name="region" placeholder="us-east-1" />
      </label>
      <label>
        Prefix <input name="prefix" placeholder="none" />
      </label>
      <label>
        Access key <input name="key" autocomplete="off" required />
      </label>
      <label class="wide">
        Secret key <input name="secret" type="password" autocomplete="off" required />
      </label>
      <p class="muted wide">
        The keys stay in the memory of this page. The bucket must allow this origin by CORS.
      </p>
      {error.value && (
        <p class="error wide" role="alert">
          {error.value}
        </p>
      )}
      <div class="buttons wide">
        <button type="submit" class="primary" disabled={busy.value}>
          Mount at {freePath("s3")}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}

type Picker = (options: { mode: "readwrite" }) => Promise<FileSystemDirectoryHandle>;
const picker = () => (globalThis as { showDirectoryPicker?: Picker }).showDirectoryPicker;

/** Mounts a folder that the user picks; gives a sentence if that was not possible. */
async function mountFolder(): Promise<string> {
  try {
    const directory = await picker()?.({ mode: "readwrite" });
    if (!directory) return "";
    const path = freePath(directory.name.replaceAll(/[^\w.-]/g, "-"));
    const about = `OpfsBackend over the folder ${directory.name} on this machine, until a reload`;
    const backend = new OpfsBackend({ directory });
    addMount({ path, kind: "folder", name: "Folder", about, backend, removable: true });
    return "";
  } catch (error) {
    const { name, message } = error as Error;
    // The dialogue was closed.
    return name === "AbortError" ? "" : `The folder was not mounted: ${message}`;
  }
}

function Mounts() {
  const form = useSignal(false);
  const error = useSignal("");
  const pick = async () => {
    error.value = await mountFolder();
  };
  return (
    <section class="card" aria-labelledby="mounts-title">
      <h2 id="mounts-title">Mounted storages</h2>
      <ul class="mounts">
        {mounts.value.map((mount) => (
          <li key={mount.path}>
            <span class="path">{mount.path}</span>
            <MountMark kind={mount.kind} name={mount.name} />
            <small>{mount.about}</small>
            {mount.removable && (
              <button type="button" class="quiet" onClick={() => removeMount(mount.path)}>
                Unmount
              </button>
            )}
          </li>
        ))}
      </ul>
      {form.value ? (
        <S3Form
          close={() => {
            form.value = false;
          }}
        />
      ) : (
        <div class="buttons">
          <button
            type="button"
            onClick={() => {
              form.value = true;
            }}
          >
            <Icon name="plus" size={16} /> S3 bucket
          </button>
          {picker() && (
            <button type="button" onClick={() => void pick()}>
              <Icon name="plus" size={16} /> Folder on this machine
            </button>
          )}
        </div>
      )}
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
    </section>
  );
}

export function Overview() {
  return (
    <div class="scroll">
      <h1>Files that stay</h1>
      <p class="muted">
        Open a file in the tree to edit it. After a reload, or in another tab, all of them are
        there.
      </p>
      <div class="overview">
        <Counter />
        <Health />
        <Mounts />
      </div>
    </div>
  );
}
