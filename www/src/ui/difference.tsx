// Differences of texts as they are shown in every view: hunks under their heads, line by line.

import { useState } from "preact/hooks";
import { type DiffHunk, diffHunks } from "./diff";
import { counted } from "./format";

/** Lines that are shown before somebody wants to see all. */
const SHORT = 40;

function Hunk({ hunk: { header, lines } }: { hunk: DiffHunk }) {
  return (
    <>
      <div class="head">{header}</div>
      {lines.map(({ kind, text, line }, at) => (
        <div key={`${at}-${kind}`} class={kind}>
          <span class="num">{line}</span>
          <span class="sign">{kind === "gone" ? "−" : kind === "new" ? "+" : " "}</span>
          <code>{text}</code>
        </div>
      ))}
    </>
  );
}

export function Hunks({ hunks, label }: { hunks: DiffHunk[]; label: string }) {
  return (
    <section class="diff" tabIndex={0} aria-label={label}>
      {hunks.map((hunk) => (
        <Hunk key={hunk.header} hunk={hunk} />
      ))}
    </section>
  );
}

/** The first lines of hunks. */
function cut(hunks: DiffHunk[], most: number): DiffHunk[] {
  let room = most;
  return hunks.flatMap(({ header, lines }) => {
    const shown = lines.slice(0, room);
    room -= shown.length;
    return shown.length > 0 ? [{ header, lines: shown }] : [];
  });
}

interface Texts {
  before: string;
  after: string;
  /** Shows all at once. */
  whole?: boolean;
}

export function Diff({ before, after, whole = false }: Texts) {
  const [all, setAll] = useState(whole);
  const hunks = diffHunks(before, after);
  const count = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  return (
    <>
      <Hunks hunks={all ? hunks : cut(hunks, SHORT)} label="Difference" />
      {!all && count > SHORT && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {counted(count, "line")}
        </button>
      )}
    </>
  );
}
