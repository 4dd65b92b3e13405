// The rules, as code that is in force while it is typed; which rule decides about a path; and what
// the scripted agent would get under these rules.

import { signal } from "@preact/signals";
import type { Policy } from "kitbag";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { pathOf } from "../agent/calls";
import { samples } from "../code/samples";
import { type Editor, openEditor } from "../editor/editor";
import { type Attempt, attempts, type Outcome } from "../rules/attempts";
import { completions } from "../rules/completions";
import { explain, type Touch, type Verdict } from "../rules/explain";
import { policy, rulesCode, rulesState, rulesTrouble, setRules } from "../rules/policy";
import { startingRules } from "../rules/starting";
import { sentence } from "../rules/trouble";
import { CodeAside } from "../ui/code";
import { ready } from "../ui/ready";
import "../style/rules.css";

const asked = signal<{ touch: Touch; path: string }>({ touch: "write", path: "/policies/x" });
/** Results, with the rules that they are of. */
const verdict = signal<(Verdict & { of: Policy }) | undefined>(undefined);
const tried = signal<{ of?: Policy; list: Attempt[] }>({ list: [] });
/** The outcomes under the rules before the last change. */
const earlier = signal<Record<number, Outcome>>({});

const OUTCOMES: Record<Outcome, string> = {
  done: "done",
  failed: "failed",
  asks: "asks you",
  refused: "refused",
  hidden: "finds nothing",
};
const STATES = { force: "In force", typing: "…", bad: "Not in force" };
/** Whether results are of earlier rules than those that are typed. */
const stale = (of: Policy | undefined) => rulesState.value !== "force" || of !== policy.value;
const SAYS = { allow: "Yes.", ask: "Only if you allow it.", deny: "No." };

function Tester() {
  const { touch, path } = asked.value;
  const rules = policy.value;
  useEffect(() => {
    let gone = false;
    void explain(rules, touch, path).then((answer) => {
      if (!gone) verdict.value = { ...answer, of: rules };
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
        <p
          class="verdict"
          data-decision={verdict.value.decision}
          data-stale={stale(verdict.value.of)}
          role="status"
        >
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
      const before = tried.value.list;
      earlier.value = Object.fromEntries(before.map(({ outcome }, at) => [at, outcome]));
      tried.value = { of: rules, list };
    });
    return () => {
      gone = true;
    };
  }, [rules, now]);
  const old = stale(tried.value.of);
  return (
    <section aria-labelledby="attempts-title">
      <h2 id="attempts-title">The agent’s attempts under these rules</h2>
      <p class="muted" role="status">
        {!old
          ? "Run on a copy of the project whenever the rules change."
          : rulesState.value === "bad"
            ? "These are the results of the rules in force, before the mistake."
            : "These are the results of the rules before; the new ones follow."}
      </p>
      <ul class="attempts" data-stale={old} aria-busy={old && rulesState.value !== "bad"}>
        {tried.value.list.map(({ step, outcome, rule }, at) => {
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
  const state = rulesState.value;
  const trouble = rulesTrouble.value;
  useEffect(() => {
    if (!place.current || !ready.value) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const made = openEditor(place.current, {
      path: "/policies/agent.js",
      text: rulesCode.value,
      label: "Rules of the agent",
      complete: completions,
      onChange: (code) => {
        rulesState.value = "typing";
        clearTimeout(timer);
        timer = setTimeout(() => void setRules(code), 350);
      },
      marks: true,
    });
    editor.current = made;
    return () => {
      clearTimeout(timer);
      editor.current = null;
      made.close();
      // What was typed last is not in force, and is not in the next editor.
      rulesState.value = "force";
      rulesTrouble.value = undefined;
    };
  }, [ready.value]);
  // With the words that say it: an ordinary effect would come a frame later, or more.
  useLayoutEffect(() => {
    const { line, column = 1, message } = trouble ?? {};
    editor.current?.mark(line && message ? { line, column, message } : undefined);
  }, [trouble]);
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
              <span role="status" data-state={state}>
                {STATES[state]}
              </span>
              <button
                type="button"
                class="quiet"
                onClick={() => editor.current?.setText(startingRules)}
              >
                Start over
              </button>
            </div>
            {trouble && (
              <p class="rules-error" role="alert">
                {sentence(trouble)}
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
