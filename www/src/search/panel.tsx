// The field of the search, and what was found: names first, then lines by file.

import type { GrepMatch } from "kitbag";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { openAt } from "../files/place";
import { mountOf } from "../tree/mounts";
import { counted, millis } from "../ui/format";
import { Icon } from "../ui/icons";
import { MountMark } from "../ui/tree";
import { called } from "./keys";
import { anyCase, busy, found, regex, searchAgain, text, trouble, type } from "./search";
import "../style/search.css";

/** A long line is shown from shortly before its first match. */
const BEFORE = 10;
const SHOWN = 240;

/** A text with its matches marked. */
function Marked({ text: whole, mark }: { text: string; mark: RegExp | undefined }) {
  const first = mark ? whole.search(mark) : -1;
  const from = first > BEFORE * 2 ? first - BEFORE : 0;
  const shown = whole.slice(from, from + SHOWN);
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const match of mark ? shown.matchAll(mark) : []) {
    if (match[0] === "") continue;
    out.push(shown.slice(at, match.index), <mark key={match.index}>{match[0]}</mark>);
    at = match.index + match[0].length;
  }
  return (
    <code>
      {from > 0 && "…"}
      {out}
      {shown.slice(at)}
      {from + SHOWN < whole.length && "…"}
    </code>
  );
}

function Line({ match, mark }: { match: GrepMatch; mark: RegExp | undefined }) {
  const { path, line, text: whole } = match;
  return (
    <li>
      <button type="button" class="hit" data-line={line} onClick={() => openAt(path, line)}>
        <span class="num">{line}</span>
        <Marked text={whole} mark={mark} />
      </button>
    </li>
  );
}

function FileName({ path }: { path: string }) {
  const mount = mountOf(path);
  return (
    <>
      <span class="path">{path}</span>
      {mount && <MountMark kind={mount.kind} name={mount.name} />}
    </>
  );
}

/** How much was found, in how long, and whether that is all. */
function Summary() {
  if (trouble.value) {
    return (
      <p class="error" role="alert">
        {trouble.value}
      </p>
    );
  }
  const { value } = found;
  if (!value) return <p role="status">{busy.value ? "Searching…" : ""}</p>;
  const { lines, files, names, cut, ms } = value;
  const more = [cut.lines && `the first ${lines} lines`, cut.names && `${names.length} names`];
  const shown = more.filter(Boolean).join(" and ");
  return (
    <div role="status">
      <p>
        {lines === 0 && names.length === 0
          ? "Nothing found"
          : `${counted(lines, "line")} in ${counted(files.length, "file")}, ${counted(names.length, "name")}`}{" "}
        · <span data-ms={ms}>{millis(ms)}</span>
      </p>
      {shown && <p class="cut">There are more: only {shown} are shown.</p>}
    </div>
  );
}

/** Up and down go from result to result, and back to the field. */
function move(event: KeyboardEvent) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const panel = event.currentTarget as HTMLElement;
  const stops = [...panel.querySelectorAll<HTMLElement>("input, .hit")];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const next = stops[at + step];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

export function SearchPanel() {
  const field = useRef<HTMLInputElement>(null);
  const calls = called.value;
  const first = useRef(true);
  useEffect(() => {
    // Opening the view is no call, but a call may have opened it.
    if (first.current && calls === 0) return;
    field.current?.focus();
    field.current?.select();
  }, [calls]);
  useEffect(() => {
    first.current = false;
  }, []);
  const { value } = found;
  const toggle = (which: typeof regex) => {
    which.value = !which.value;
    searchAgain();
  };
  return (
    <search
      class="search"
      data-state={busy.value ? "searching" : "idle"}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return move(event);
        event.preventDefault();
        type("");
        field.current?.focus();
      }}
    >
      <div class="search-field">
        <input
          ref={field}
          type="search"
          aria-label="Search in all files"
          title="Ctrl+Shift+F or /"
          placeholder="Search in all files"
          spellcheck={false}
          autocapitalize="off"
          value={text.value}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
        <button
          type="button"
          aria-pressed={!anyCase.value}
          aria-label="Match upper and lower case"
          title="Match upper and lower case"
          onClick={() => toggle(anyCase)}
        >
          Aa
        </button>
        <button
          type="button"
          aria-pressed={regex.value}
          aria-label="Regular expression"
          title="Regular expression"
          onClick={() => toggle(regex)}
        >
          .*
        </button>
        {text.value && (
          <button type="button" aria-label="End the search" onClick={() => type("")}>
            <Icon name="cross" size={14} />
          </button>
        )}
      </div>
      {text.value && <Summary />}
      {text.value && value && (
        <div class="found" data-for={value.text} data-stale={busy.value}>
          {value.names.length > 0 && (
            <section aria-label="Names">
              <h2>Names</h2>
              <ul>
                {value.names.map((path) => (
                  <li key={path}>
                    <button type="button" class="hit name" onClick={() => openAt(path)}>
                      <FileName path={path} />
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {value.files.map(({ path, lines }) => (
            <section key={path} aria-label={path} data-file={path}>
              <h2>
                <FileName path={path} />
                <small>{lines.length}</small>
              </h2>
              <ul>
                {lines.map((match) => (
                  <Line key={match.line} match={match} mark={value.mark} />
                ))}
              </ul>
            </section>
          ))}
        </div>
      )}
    </search>
  );
}
