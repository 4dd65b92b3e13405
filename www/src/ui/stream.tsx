// The stream of tool calls: what the agent asked, the text that it sees, who answered and which rule
// decided. Every call is an article that keeps its place when its answer arrives.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Call, pathOf } from "../agent/calls";
import { Diff } from "./difference";
import { bytes, millis } from "./format";
import { Icon } from "./icons";
import { address } from "./route";
import { MountMark } from "./tree";

const SAYS = {
  running: "running",
  asking: "asks you",
  ok: "done",
  failed: "failed",
  refused: "refused",
} as const;

/** What a person is asked, where the name of the operation is no word for it. */
const VERBS: Record<string, string> = {
  readRaw: "read",
  download: "read",
  downloadFiles: "read",
  uploadFiles: "write",
};

/** Arguments without the path, which stands in the title, and without long texts. */
function rest(call: Call): Array<[string, string]> {
  const path = pathOf(call);
  return Object.entries(call.input)
    .filter(([name, value]) => value !== path && name !== "content")
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
}

function Output({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const lines = text.split("\n");
  const long = lines.length > 9;
  const shown = long && !open ? lines.slice(0, 8).join("\n") : text;
  return (
    <div class="output">
      <pre tabIndex={0} role="group" aria-label="The text that the model sees">
        {shown}
      </pre>
      {long && (
        <button type="button" class="more" onClick={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${lines.length} lines`}
        </button>
      )}
    </div>
  );
}

function Question({ call }: { call: Call }) {
  const place = useRef<HTMLDivElement>(null);
  const { question } = call;
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const own = place.current;
    if (!own) return;
    own.scrollIntoView({ block: "nearest" });
    // From the controls a keyboard comes to the question, and back; elsewhere somebody may be typing.
    if (!before?.closest(".controls")) return;
    own.focus();
    return () => before.focus();
  }, [Boolean(question)]);
  if (!question) return null;
  return (
    <div
      class="question"
      ref={place}
      tabIndex={-1}
      role="alertdialog"
      aria-label="The agent asks for permission"
    >
      {question.proposal ? (
        <div class="proposal">
          <Diff {...question.proposal} whole />
        </div>
      ) : (
        question.preview && (
          <pre class="proposal" tabIndex={0} role="group" aria-label="What would be written">
            {question.preview}
          </pre>
        )
      )}
      <p>
        <strong>
          The agent wants to {VERBS[question.operation] ?? question.operation}{" "}
          <code>{question.path}</code>
        </strong>
        <span>
          {call.rule ? (
            <>
              <a href={address("rules")}>{call.rule.rule}</a> leaves it to you:{" "}
              <code>{call.rule.text}</code>
            </>
          ) : (
            "A rule leaves it to you."
          )}
        </span>
      </p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => question.answer(true)}>
          Allow
        </button>
        <button type="button" onClick={() => question.answer(false)}>
          Deny
        </button>
      </div>
    </div>
  );
}

function Rule({ call }: { call: Call }) {
  if (!call.rule) return null;
  const { decision, rule, text } = call.rule;
  const quiet = decision === "allow" && rule === "default";
  return (
    <span class="rule" data-decision={decision} title={text}>
      <Icon
        name={decision === "allow" ? "check" : decision === "ask" ? "hand" : "lock"}
        size={14}
      />
      {quiet ? (
        "no rule against it"
      ) : (
        <a href={address("rules")}>
          {rule}: {text.replace(/^(\w+): /, "")}
        </a>
      )}
    </span>
  );
}

export function CallCard({ call }: { call: Call }) {
  const path = pathOf(call);
  const args = rest(call);
  const moved = call.change && call.change.before !== call.change.after;
  const asks = call.question?.proposal !== undefined;
  return (
    <article class="call" data-state={call.state} data-tool={call.tool}>
      <header>
        {call.why && <h3>{call.why}</h3>}
        <span class="state">{SAYS[call.state]}</span>
      </header>
      <div class="asked">
        <b>{call.tool}</b>
        {path !== undefined && <span class="path">{path}</span>}
        {!moved &&
          !asks &&
          args.map(([name, value]) => (
            <span key={name} class="arg">
              <i>{name}</i> {value}
            </span>
          ))}
      </div>
      {call.change && moved && <Diff before={call.change.before} after={call.change.after} />}
      <Question call={call} />
      {call.text !== undefined && <Output text={call.text} />}
      {call.ms !== undefined && (
        <footer>
          {call.answers.map((answer) => (
            <span
              key={answer.path}
              class="answered"
              title={`${answer.operations} operations of ${answer.path}, ${bytes(answer.bytes)}`}
            >
              <MountMark kind={answer.kind} name={answer.name} />
            </span>
          ))}
          <Rule call={call} />
          <span class="figures">
            {call.loadMs !== undefined && (
              <span data-load-ms={call.loadMs}>{millis(call.loadMs)} to load the shell · </span>
            )}
            <span data-ms={call.ms}>{millis(call.ms)}</span> · {bytes(call.bytes ?? 0)}
          </span>
        </footer>
      )}
    </article>
  );
}

export type Filter = "all" | "changes" | "refused";

const KEEPS: Record<Filter, (call: Call) => boolean> = {
  all: () => true,
  changes: ({ tool }) => /^(write_file|edit_file|delete)$/.test(tool),
  refused: ({ state }) => state === "refused" || state === "failed" || state === "asking",
};

interface StreamProps {
  calls: Signal<Call[]>;
  filter: Filter;
  /** What stands below the last call. */
  after?: ComponentChildren;
}

/** Calls, the newest last; follows the newest while the reader is at the end. */
export function Stream({ calls, filter, after }: StreamProps) {
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const before = useRef(0);
  const all = calls.value;
  const last = all.at(-1);
  useEffect(() => {
    const element = list.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [all.length, last?.state, last?.text, last?.rule, Boolean(after)]);
  return (
    <div
      class="stream"
      ref={list}
      role="log"
      aria-label="Tool calls"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        // Only a reader scrolls up; what grows below the end is followed.
        if (scrollTop + clientHeight > scrollHeight - 60) atEnd.current = true;
        else if (scrollTop < before.current - 2) atEnd.current = false;
        before.current = scrollTop;
      }}
    >
      {all.filter(KEEPS[filter]).map((call) => (
        <CallCard key={call.id} call={call} />
      ))}
      {after}
    </div>
  );
}
