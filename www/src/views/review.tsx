// What a turn would change, part by part: a person takes some of it, commits, and takes it back.

import { signal } from "@preact/signals";
import type { Receipt } from "kitbag";
import type { ReviewFile } from "kitbag/history";
import { samples } from "../code/samples";
import { shownHunks } from "../review/hunks";
import { commit, content, drop, project, steps, takeBack, type Worked, work } from "../review/work";
import { CodeAside } from "../ui/code";
import type { DiffHunk } from "../ui/diff";
import { Hunks } from "../ui/difference";
import { counted } from "../ui/format";
import { Icon } from "../ui/icons";
import "../style/review.css";

type Hunk = ReviewFile["hunks"][number];

const worked = signal<Worked | undefined>(undefined);
const taken = signal<ReadonlySet<string>>(new Set());
const receipt = signal<Receipt | undefined>(undefined);
const said = signal("");
const failed = signal("");
/** Counts what was done, so that the files are read again. */
const moment = signal(0);

const hunksOf = (files: ReviewFile[]) => files.flatMap(({ hunks }) => hunks);

async function attempt(run: () => Promise<string>) {
  failed.value = "";
  try {
    said.value = await run();
  } catch (error) {
    failed.value = (error as Error).message;
  }
  moment.value += 1;
}

const begin = () =>
  attempt(async () => {
    receipt.value = undefined;
    worked.value = await work();
    taken.value = new Set(hunksOf(worked.value.files).map(({ id }) => id));
    return "The agent has finished. The files are as they were.";
  });

const accept = () =>
  attempt(async () => {
    const { value } = worked;
    if (!value) return "";
    receipt.value = await commit(value, [...taken.value]);
    worked.value = undefined;
    return `Committed: ${counted(receipt.value.files.length, "file")} changed, all at once.`;
  });

const reject = () =>
  attempt(async () => {
    if (worked.value) await drop(worked.value);
    worked.value = undefined;
    return "Rejected: nothing was changed.";
  });

const takeAway = () =>
  attempt(async () => {
    if (receipt.value) await takeBack(receipt.value);
    receipt.value = undefined;
    return "Undone: the files are as they were.";
  });

function toggle(id: string) {
  const next = new Set(taken.value);
  if (!next.delete(id)) next.add(id);
  taken.value = next;
}

function Part({ hunk, shown, title }: { hunk: Hunk; shown: DiffHunk; title: string }) {
  const takes = taken.value.has(hunk.id);
  return (
    <div class="part" data-taken={takes}>
      <label>
        <input type="checkbox" checked={takes} onChange={() => toggle(hunk.id)} />
        {title} <span class="muted">{takes ? "is taken" : "is left out"}</span>
      </label>
      <Hunks hunks={[shown]} label={title} />
    </div>
  );
}

function Change({ file }: { file: ReviewFile }) {
  // In a turn the files themselves are as they were.
  const shown = shownHunks(String(content(file.path)), file.hunks);
  return (
    <article class="call change" data-path={file.path}>
      <header>
        <h2 class="path">{file.path}</h2>
        <span class="state">{file.kind}</span>
      </header>
      {file.hunks.map((hunk, at) => {
        const own = shown[at];
        const title = `Part ${at + 1} of ${file.path}`;
        return own && <Part key={hunk.id} hunk={hunk} shown={own} title={title} />;
      })}
    </article>
  );
}

function Now({ path }: { path: string }) {
  return (
    <article class="call now" data-now={path}>
      <header>
        <h2 class="path">{path}</h2>
        <span class="state">now</span>
      </header>
      <div class="output" key={moment.value}>
        <pre tabIndex={0} role="group" aria-label={`What ${path} holds now`}>
          {content(path)}
        </pre>
      </div>
    </article>
  );
}

function Controls() {
  const { value } = worked;
  const all = value ? hunksOf(value.files).length : 0;
  return (
    <div class="controls">
      {value ? (
        <>
          <button
            type="button"
            class="primary"
            data-do="commit"
            disabled={taken.value.size === 0}
            onClick={() => void accept()}
          >
            <Icon name="check" size={16} /> Commit {taken.value.size} of {counted(all, "part")}
          </button>
          <button type="button" data-do="reject" onClick={() => void reject()}>
            <Icon name="cross" size={16} /> Reject all
          </button>
        </>
      ) : (
        <>
          <button type="button" class="primary" data-do="work" onClick={() => void begin()}>
            <Icon name="play" size={16} /> {receipt.value ? "Start again" : "Let the agent work"}
          </button>
          {receipt.value && (
            <button type="button" data-do="undo" onClick={() => void takeAway()}>
              <Icon name="replay" size={16} /> Undo
            </button>
          )}
        </>
      )}
      <span class="progress" role="status">
        {said.value}
      </span>
    </div>
  );
}

export default function ReviewView() {
  const { value } = worked;
  return (
    <div class="split no-side with-aside">
      <section class="centre" aria-label="Review">
        <div class="heading">
          <h1>See it before it happens</h1>
          <p>
            A scripted agent works in a turn: it sees its own changes, and the files stay as they
            are. Take the parts that you want and commit them as one; undo takes that back.
          </p>
        </div>
        <Controls />
        {failed.value && (
          <p class="error pad" role="alert">
            {failed.value}
          </p>
        )}
        <div class="scroll changes" role="group" aria-label="Changes" tabIndex={0}>
          {value ? (
            <>
              <p class="muted">
                The agent made {counted(steps.length, "call")}:{" "}
                {steps.map(({ why }) => why.toLowerCase()).join(", ")}.
              </p>
              {value.files.map((file) => (
                <Change key={file.path} file={file} />
              ))}
            </>
          ) : (
            Object.keys(project).map((path) => <Now key={path} path={path} />)
          )}
        </div>
      </section>
      <CodeAside sample={samples.review} />
    </div>
  );
}
