// One file: its text in an editor, its picture or sound, and every change that was made to it.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Editor, openEditor } from "../editor/editor";
import { announceChange, changed } from "../tree/changes";
import { journal, record } from "../tree/journal";
import { mountOf, tree } from "../tree/mounts";
import { Diff } from "../ui/difference";
import { bytes } from "../ui/format";
import { Icon } from "../ui/icons";
import { go } from "../ui/route";
import { MountMark } from "../ui/tree";
import { Archive } from "./archive";
import { place } from "./place";

interface Loaded {
  text?: string;
  data?: Uint8Array;
  mime: string;
  error?: string;
  /** Only a page of it is shown, from this line on. */
  from?: number;
}

const LARGEST = 2_000_000;
const PAGE = 5_000;

/** Loads a file; of a large one, the page with this line in its middle. */
async function load(path: string, line = 1): Promise<Loaded> {
  const { files } = await tree.value.glob(path);
  const large = (files?.[0]?.size ?? 0) > LARGEST;
  const skipped = large ? Math.max(0, line - PAGE / 2) : 0;
  const page = await tree.value.read(path, skipped, large ? PAGE : 1_000_000_000);
  const mime = page.mimeType ?? "text/plain";
  if (page.error) return { mime, error: page.error };
  if (page.content instanceof Uint8Array) return { mime, data: page.content };
  if (large) return { mime, text: page.content ?? "", from: skipped + 1 };
  // The text as it is stored, with the end of its last line.
  const [raw] = await tree.value.downloadFiles([path]);
  if (raw?.content && mime === "image/svg+xml") {
    return { mime, text: new TextDecoder().decode(raw.content), data: raw.content };
  }
  return { mime, text: raw?.content ? new TextDecoder().decode(raw.content) : "" };
}

function equal(a?: Uint8Array, b?: Uint8Array) {
  if (!a || !b) return a === b;
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function Preview({ data, mime, path }: { data: Uint8Array; mime: string; path: string }) {
  const url = useSignal("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([data as BlobPart], { type: mime }));
    url.value = made;
    return () => URL.revokeObjectURL(made);
  }, [data, mime]);
  if (!url.value) return null;
  if (mime.startsWith("image/")) {
    const kind = mime === "image/svg+xml" ? "drawing" : "photo";
    return <img class={kind} src={url.value} alt={`Contents of ${path}`} />;
  }
  if (mime.startsWith("audio/")) {
    // biome-ignore lint/a11y/useMediaCaption: a file of the user's
    return <audio controls src={url.value} />;
  }
  if (mime.startsWith("video/")) {
    // biome-ignore lint/a11y/useMediaCaption: a file of the user's
    return <video controls src={url.value} />;
  }
  if (mime === "application/zip") return <Archive data={data} path={path} />;
  if (mime === "application/pdf") return <iframe src={url.value} title={path} />;
  return (
    <p class="muted">
      {mime}, {bytes(data.length)}: there is no preview of this type.
    </p>
  );
}

function Changes({ path }: { path: string }) {
  const mine = journal.value.filter((change) => change.path === path);
  if (mine.length === 0) return <p class="muted pad">No change of this file in this page yet.</p>;
  return (
    <ol class="changes scroll">
      {mine.map((change) => (
        <li key={change.at}>
          <p>
            <time>{new Date(change.at).toLocaleTimeString()}</time> by {change.by}
          </p>
          <Diff before={change.before} after={change.after} />
        </li>
      ))}
    </ol>
  );
}

type Tab = "edit" | "preview" | "changes";

export function OpenFile({ path }: { path: string }) {
  const loaded = useSignal<Loaded | undefined>(undefined);
  const dirty = useSignal(false);
  const comparing = useSignal(false);
  const error = useSignal("");
  const saved = useSignal(false);
  const tab = useSignal<Tab>("edit");
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const mount = mountOf(path);
  const goal = place.value?.path === path ? place.value : undefined;
  const wanted = useRef(goal?.line);
  const kept = mount?.kind === "rules";
  const readOnly = kept || loaded.value?.from !== undefined;

  const save = async () => {
    const base = loaded.value?.text ?? "";
    const text = editor.current?.text() ?? "";
    if (text === base) return;
    const answer = await tree.value.edit(path, base, text);
    saved.value = !answer.error;
    if (answer.error) {
      const elsewhere = answer.code === "no_match" || answer.code === "conflict";
      error.value = elsewhere
        ? "Not saved: the file was changed elsewhere since it was opened. Nothing was overwritten."
        : `Not saved: ${answer.error}`;
      return;
    }
    error.value = "";
    dirty.value = false;
    loaded.value = { mime: "text/plain", ...loaded.value, text };
    record(path, base, text, "you");
    announceChange();
  };
  const saver = useRef(save);
  saver.current = save;

  const asked = useRef(0);
  const reload = async (drops = false) => {
    asked.current += 1;
    const turn = asked.current;
    const next = await load(path, wanted.current);
    // Meanwhile it was asked for again, or something was typed, which only a person may drop.
    if (turn !== asked.current || (dirty.value && !drops)) return;
    // The same bytes stay the same object: a sound plays on while other files change.
    const data = equal(loaded.value?.data, next.data) ? loaded.value?.data : next.data;
    loaded.value = { ...next, data };
    error.value = "";
    dirty.value = false;
    if (next.text !== undefined && editor.current && editor.current.text() !== next.text) {
      editor.current.setText(next.text);
      dirty.value = false;
    }
  };

  // A change elsewhere is shown at once, unless it would take away what was typed.
  const version = changed.value;
  useEffect(() => {
    if (!dirty.value) void reload();
  }, [path, version]);

  const { text, from } = loaded.value ?? {};
  const editable = text !== undefined;
  useEffect(() => {
    if (!editable || !box.current || tab.value !== "edit") return;
    const made = openEditor(box.current, {
      path,
      text: loaded.value?.text ?? "",
      label: `Text of ${path}`,
      readOnly,
      firstLine: from ?? 1,
      onChange: (now) => {
        dirty.value = now !== loaded.value?.text;
        saved.value = false;
      },
      onSave: () => void saver.current(),
    });
    editor.current = made;
    return () => {
      made.close();
      editor.current = null;
    };
  }, [path, editable, readOnly, from, tab.value]);
  useEffect(() => {
    if (!goal || !editable) return;
    // A large file has other pages.
    const there = goal.line - (from ?? 1);
    if (from !== undefined && (there < 0 || there >= PAGE)) {
      wanted.current = goal.line;
      void reload();
      return;
    }
    if (tab.value !== "edit") {
      tab.value = "edit";
      return;
    }
    editor.current?.goTo(goal.line);
    place.value = undefined;
  }, [goal, editable, from, tab.value]);
  useEffect(() => {
    editor.current?.compare(comparing.value ? text : undefined);
  }, [comparing.value, text]);

  const remove = async () => {
    const answer = await tree.value.delete(path);
    if (answer.error) error.value = answer.error;
    else go("files");
    announceChange();
  };
  const { data, mime = "" } = loaded.value ?? {};
  const tabs: Array<[Tab, string]> = [["edit", editable ? "Text" : "Preview"]];
  if (editable && data) tabs.push(["preview", "Preview"]);
  tabs.push(["changes", "Changes"]);
  return (
    <div class="open-file">
      <header class="file-head">
        <a class="icon-button back" href="#/files" aria-label="Close the file">
          <Icon name="cross" size={16} />
        </a>
        <h1 class="path">{path}</h1>
        {mount && <MountMark kind={mount.kind} name={mount.name} />}
        <span class="muted" role="status">
          {readOnly ? "read-only" : dirty.value ? "not saved" : saved.value ? "saved" : ""}
        </span>
      </header>
      <div class="file-tools">
        <div class="segments" role="group" aria-label="Show">
          {tabs.map(([id, title]) => (
            <button
              key={id}
              type="button"
              aria-pressed={tab.value === id}
              onClick={() => {
                tab.value = id;
              }}
            >
              {title}
            </button>
          ))}
        </div>
        {editable && tab.value === "edit" && !readOnly && (
          <>
            <button
              type="button"
              class="primary"
              disabled={!dirty.value}
              onClick={() => void save()}
              data-do="save"
            >
              Save
            </button>
            <button
              type="button"
              aria-pressed={comparing.value}
              disabled={!dirty.value && !comparing.value}
              onClick={() => {
                comparing.value = !comparing.value;
              }}
            >
              {comparing.value ? "Hide difference" : "Difference"}
            </button>
          </>
        )}
        {!kept && (
          <button
            type="button"
            class="icon-button"
            aria-label={`Delete ${path}`}
            onClick={() => void remove()}
          >
            <Icon name="trash" size={16} />
          </button>
        )}
        {error.value && (
          <div class="file-error" role="alert">
            <p>{error.value}</p>
            <button type="button" onClick={() => void reload(true)}>
              Load the file again
            </button>
          </div>
        )}
      </div>
      {loaded.value?.error && <p class="error pad">{loaded.value.error}</p>}
      {from !== undefined && (
        <p class="muted pad">
          A large file: {PAGE} of its lines, from line {from} on.
        </p>
      )}
      {tab.value === "changes" && <Changes path={path} />}
      {data && tab.value === (editable ? "preview" : "edit") && (
        <div class="preview">
          <Preview data={data} mime={mime} path={path} />
        </div>
      )}
      <div class="editor" ref={box} hidden={tab.value !== "edit" || !editable} />
    </div>
  );
}
