// The workspace: the tree with its mounts, files that come and go, and the file that is open.

import { signal } from "@preact/signals";
import { samples } from "../code/samples";
import { OpenFile } from "../files/open-file";
import { Overview } from "../files/overview";
import { dropped, type Incoming, picked, take } from "../files/take";
import { SearchPanel } from "../search/panel";
import { text } from "../search/search";
import { announceChange } from "../tree/changes";
import { mountOf, tree } from "../tree/mounts";
import { CodeAside } from "../ui/code";
import { Fold } from "../ui/fold";
import { counted } from "../ui/format";
import { Icon } from "../ui/icons";
import { go, route } from "../ui/route";
import { reveal, Tree } from "../ui/tree";
import "../style/files.css";

/** Where new files go: the directory that was chosen last. */
const target = signal("/files");
const over = signal<string | undefined>(undefined);
const note = signal<{ text: string; bad?: boolean } | undefined>(undefined);
const naming = signal(false);

async function store(list: Incoming[], directory: string) {
  if (list.length === 0) return;
  note.value = { text: `Storing ${counted(list.length, "file")} in ${directory} …` };
  const { stored, failed } = await take(list, directory);
  const done = `${counted(stored, "file")} stored in ${directory}.`;
  note.value = failed.length === 0 ? { text: done } : { text: `${done} ${failed[0]}`, bad: true };
  const first = list[0];
  if (first) reveal(`${directory}/${first.path}`);
}

/** The directory under the pointer. */
function directoryAt(element: EventTarget | null): string {
  const row = (element as HTMLElement | null)?.closest<HTMLElement>("[data-path]");
  const path = row?.dataset.path;
  if (!row || !path) return target.value;
  return row.hasAttribute("aria-expanded") ? path : path.slice(0, path.lastIndexOf("/"));
}

async function zip() {
  const { downloadZip } = await import("../files/zip");
  try {
    const count = await downloadZip("/");
    note.value = { text: `${counted(count, "file")} in kitbag.zip.` };
  } catch (error) {
    note.value = { text: `No archive was made: ${(error as Error).message}`, bad: true };
  }
}

async function create(event: SubmitEvent) {
  event.preventDefault();
  const form = new FormData(event.currentTarget as HTMLFormElement);
  const answer = await tree.value.write(String(form.get("path")), "");
  if (answer.error) {
    note.value = { text: answer.error, bad: true };
    return;
  }
  naming.value = false;
  note.value = undefined;
  announceChange();
  if (answer.path) {
    reveal(answer.path);
    go("files", answer.path);
  }
}

function Pick({ folder }: { folder?: boolean }) {
  return (
    <label class="button pick">
      <Icon name={folder ? "folder" : "upload"} size={16} />
      {folder ? "Add a folder" : "Add files"}
      <input
        type="file"
        multiple
        aria-label={folder ? "Add a folder" : "Add files"}
        {...(folder ? { webkitdirectory: true } : {})}
        onChange={({ currentTarget }) => {
          if (currentTarget.files) void store(picked(currentTarget.files), target.value);
          currentTarget.value = "";
        }}
      />
    </label>
  );
}

export default function FilesView() {
  const path = route.value.rest;
  return (
    <div class="split files-view">
      <aside
        class={`side ${over.value ? "over" : ""}`}
        aria-label="Files"
        onDragOver={(event) => {
          event.preventDefault();
          over.value = directoryAt(event.target);
        }}
        onDragLeave={() => {
          over.value = undefined;
        }}
        onDrop={(event) => {
          event.preventDefault();
          const directory = directoryAt(event.target);
          over.value = undefined;
          const { dataTransfer } = event;
          if (dataTransfer) void dropped(dataTransfer).then((list) => store(list, directory));
        }}
      >
        <SearchPanel />
        {!text.value && (
          <Fold title="Add and download" open={naming.value}>
            <div class="tools">
              <button
                type="button"
                onClick={() => {
                  naming.value = !naming.value;
                }}
              >
                <Icon name="plus" size={16} /> New file
              </button>
              <Pick />
              <Pick folder />
              <button type="button" onClick={() => void zip()} data-do="zip">
                <Icon name="download" size={16} /> Download zip
              </button>
            </div>
            {naming.value && (
              <form class="new-file" onSubmit={create}>
                <input
                  name="path"
                  aria-label="Path of the new file"
                  defaultValue={`${target.value}/`}
                  required
                />
                <button type="submit" class="primary">
                  Create
                </button>
              </form>
            )}
          </Fold>
        )}
        {note.value && (
          <p class={`drop-note ${note.value.bad ? "error" : ""}`} role="status">
            {note.value.text}
          </p>
        )}
        {!text.value && (
          <Tree
            selected={path || target.value}
            onOpen={(file) => {
              target.value = file.slice(0, file.lastIndexOf("/"));
              go("files", file);
            }}
            onDirectory={(directory) => {
              target.value = directory;
            }}
          />
        )}
        {!text.value && (
          <p class="drop-hint">
            {over.value
              ? `Drop into ${over.value}`
              : `Drop files or folders on a directory, or here for ${mountOf(target.value) ? target.value : "/files"}`}
          </p>
        )}
      </aside>
      <section class="centre" aria-label="Workspace">
        {path ? <OpenFile key={path} path={path} /> : <Overview />}
        <CodeAside sample={samples.files} closed />
      </section>
    </div>
  );
}
