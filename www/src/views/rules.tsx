// The rules, as code that is in force while it is typed; which rule decides about a path; and what
// the scripted agent would get under these rules.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { pathOf } from "../agent/calls";
import { samples } from "../code/samples";
import { type Editor, openEditor } from "../editor/editor";
import { type Attempt, attempts, type Outcome } from "../rules/attempts";
import { completions } from "../rules/completions";
import { explain, type Touch, type Verdict } from "../rules/explain";
import { policy, rulesCode, rulesError, setRules } from "../rules/policy";
import { startingRules } from "../rules/starting";
import { CodeAside } from "../ui/code";
import { ready } from "../ui/ready";
import "../style/rules.css";

const asked = signal<{ touch: Touch; path: string }>({ touch: "write", path: "/policies/x" });
const verdict = signal<Verdict | undefined>(undefined);
const tried = signal<Attempt[]>([]);
/** The outcomes under the rules before the last change. */
const earlier = signal<Record<number, Outcome>>({});

const OUTCOMES: Record<Outcome, string> = {
  done: "done",
  failed: "failed",
  asks: "asks you",
  refused: "refused",
  hidden: "finds nothing",
};
const SAYS = { allow: "Yes.", ask: "Only if you allow it.", deny: "No." };

function Tester() {
  const { touch, path } = asked.value;
  const rules = policy.value;
  useEffect(() => {
    let gone = false;
    void explain(rules, touch, path).then((answer) => {
      if (!gone) verdict.value = answer;
    });
    return () => {
      gone = true;
    };
  }, [rules, touch, path]);
  return (
    <section class="tester" aria-labelledby="tester-title">
      <h2 id="tester-title">May the agent …</h2>
      <div class="row-form">
        <select
          aria-label="Operation"
          value={touch}
          onChange={({ currentTarget }) => {
            asked.value = { touch: currentTarget.value as Touch, path };
          }}
        >
          <option>read</option>
          <option>write</option>
        </select>
        <input
          aria-label="Path"
          value={path}
          spellcheck={false}
          onInput={({ currentTarget }) => {
            asked.value = { touch, path: currentTarget.value };
          }}
        />
      </div>
      {verdict.value && (
        <p class="verdict" data-decision={verdict.value.decision} role="status">
          <strong>{SAYS[verdict.value.decision]}</strong>{" "}
          {verdict.value.rule === "default" ? (
            "No rule is about this path."
          ) : (
            <>
              <code>{verdict.value.rule}</code> decides: <code>{verdict.value.text}</code>
            </>
          )}
        </p>
      )}
    </section>
  );
}

function Attempts() {
  const rules = policy.value;
  const now = ready.value;
  useEffect(() => {
    if (!now) return;
    let gone = false;
    void attempts(rules).then((list) => {
      if (gone) return;
      earlier.value = Object.fromEntries(tried.value.map(({ outcome }, at) => [at, outcome]));
      tried.value = list;
    });
    return () => {
      gone = true;
    };
  }, [rules, now]);
  return (
    <section aria-labelledby="attempts-title">
      <h2 id="attempts-title">The agent’s attempts under these rules</h2>
      <p class="muted">Run on a copy of the project whenever the rules change.</p>
      <ul class="attempts">
        {tried.value.map(({ step, outcome, rule }, at) => {
          const was = earlier.value[at];
          return (
            <li key={`${step.tool}-${step.why}`} data-outcome={outcome}>
              <span>
                <b>{step.tool}</b> <code>{pathOf(step) ?? String(step.input.command ?? "")}</code>{" "}
                {step.tool === "grep" && <code>{String(step.input.pattern)}</code>}
              </span>
              {rule && <small>{rule}</small>}
              <em>
                {was !== undefined && was !== outcome && <s>{OUTCOMES[was]}</s>} {OUTCOMES[outcome]}
              </em>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

export default function RulesView() {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const state = useSignal<"force" | "typing" | "bad">("force");
  useEffect(() => {
    if (!place.current || !ready.value) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const made = openEditor(place.current, {
      path: "/policies/agent.js",
      text: rulesCode.value,
      label: "Rules of the agent",
      complete: completions,
      onChange: (code) => {
        state.value = "typing";
        clearTimeout(timer);
        timer = setTimeout(async () => {
          state.value = (await setRules(code)) ? "force" : "bad";
        }, 350);
      },
    });
    editor.current = made;
    return () => {
      clearTimeout(timer);
      made.close();
    };
  }, [ready.value]);
  return (
    <div class="split no-side with-aside rules-view">
      <section class="centre" aria-label="Rules">
        <div class="heading">
          <h1>Rules that apply while you type</h1>
          <p>
            This is <code>/policies/agent.js</code>. Change it: the agent’s next call follows it,
            and its attempts are run again.
          </p>
        </div>
        <div class="rules-grid">
          <div class="rules-code">
            <div class="rules-bar">
              <span role="status" data-state={state.value}>
                {state.value === "bad"
                  ? "Not in force"
                  : state.value === "force"
                    ? "In force"
                    : "…"}
              </span>
              <button
                type="button"
                class="quiet"
                onClick={() => editor.current?.setText(startingRules)}
              >
                Start over
              </button>
            </div>
            {rulesError.value && (
              <p class="rules-error" role="alert">
                {rulesError.value}
              </p>
            )}
            <div class="editor" ref={place} />
          </div>
          <div class="rules-side">
            <Tester />
            <Attempts />
          </div>
        </div>
      </section>
      <CodeAside sample={samples.rules} closed />
    </div>
  );
}
