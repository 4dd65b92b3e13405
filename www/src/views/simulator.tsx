// The simulator of kitbag's tests in the page: one seed decides a world of clients, storages and
// faults, and what they did is drawn. The address has the seed and the bug: `#/simulator/6/NAME`.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { History } from "../simulator/history";
import { type Found, findSimulator, type Report, sentence } from "../simulator/report";
import { docs } from "../ui/code";
import { Fold, narrow } from "../ui/fold";
import { counted } from "../ui/format";
import { go, route } from "../ui/route";
import "../style/simulator.css";

const POLL_MS = 3_000;
const POINT = "Point at a bar or a fault to see what it was.";

const found = signal<Found | undefined>(undefined);
const report = signal<(Report & { seed: number }) | undefined>(undefined);
const shown = signal(0);
const detail = signal(POINT);

const LEGEND = [
  ["change", "change"],
  ["look", "read or listing"],
  ["refused", "refused"],
  ["unknown", "outcome unknown"],
  ["cancelled", "cancelled"],
  ["crashed", "ended by a crash"],
  ["fault", "fault"],
  ["wrong", "contradicts the model"],
];

function chosen(): { seed: number; bug: string } {
  const [, seed = "1", bug = ""] = route.value.rest.split("/");
  const number = Math.min(Math.max(Math.trunc(Number(seed)) || 1, 1), 0xffff_ffff);
  return { seed: number, bug };
}

const choose = (seed: number, bug: string) => go("simulator", `/${seed}${bug && `/${bug}`}`);

function step(to: number) {
  const calls = report.value?.calls ?? [];
  shown.value = Math.min(Math.max(to, 0), calls.length);
  const last = calls[shown.value - 1];
  detail.value = last ? sentence(last, shown.value - 1) : "Before the first call.";
}

function Missing() {
  const { value } = found;
  if (value?.state === "building") {
    return (
      <p class="muted pad" role="status" data-simulator="building">
        The simulator is still being compiled. It appears here when it is ready; the first time this
        takes minutes.
      </p>
    );
  }
  if (value?.state === "failed") {
    return (
      <p class="error pad" role="alert" data-simulator="failed">
        The simulator could not be started: {value.error}
      </p>
    );
  }
  return (
    <p class="muted pad" role="status" data-simulator={value?.state ?? "loading"}>
      {value
        ? "The simulator is not here: it needs the network, or was not built with this page. In a clone of the repository, npm start builds it."
        : "Loading…"}
    </p>
  );
}

function Controls({ bugs }: { bugs: string[] }) {
  const { seed, bug } = chosen();
  const all = report.value?.calls.length ?? 0;
  return (
    <div class="controls">
      <form
        class="seed"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget as HTMLFormElement);
          choose(Number(form.get("seed")), bug);
        }}
      >
        <label>
          Seed
          <input
            name="seed"
            type="number"
            min={1}
            max={0xffff_ffff}
            key={seed}
            defaultValue={`${seed}`}
          />
        </label>
        <button type="submit" class="primary" data-do="run">
          Run
        </button>
        <button type="button" onClick={() => choose(seed + 1, bug)} data-do="next">
          Next seed
        </button>
      </form>
      <Fold title="Bug and steps">
        <label class="select">
          <span>Bug</span>
          <select
            aria-label="Deliberate bug"
            value={bug}
            onChange={({ currentTarget }) => choose(seed, currentTarget.value)}
          >
            <option value="">no bug</option>
            {bugs.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <div class="segments" role="group" aria-label="Calls that are shown">
          <button type="button" onClick={() => step(0)} data-do="first">
            Start
          </button>
          <button
            type="button"
            onClick={() => step(shown.value - 1)}
            title="One call back"
            data-do="back"
          >
            − 1
          </button>
          <button
            type="button"
            onClick={() => step(shown.value + 1)}
            title="One call on"
            data-do="on"
          >
            + 1
          </button>
          <button type="button" onClick={() => step(all)} data-do="last">
            End
          </button>
        </div>
      </Fold>
    </div>
  );
}

function Verdict({ of }: { of: Report }) {
  const good = of.wrong.length === 0;
  return (
    <p class="judged" data-good={good} role="status">
      {good
        ? `The history fits the model: ${counted(of.calls.length, "call")}, ${counted(of.faults.length, "fault")}.`
        : `The history contradicts the model. ${of.wrong.join("\n")}`}
    </p>
  );
}

export default function SimulatorView() {
  const { value } = found;
  const { seed, bug } = chosen();
  useEffect(() => {
    if (found.value?.state === "ready") return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const look = async () => {
      const now = await findSimulator();
      if (gone) return;
      found.value = now;
      if (now.state === "building") timer = setTimeout(() => void look(), POLL_MS);
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, []);
  useEffect(() => {
    if (value?.state !== "ready") return;
    const made: Report = JSON.parse(value.program.simulate(seed, bug));
    report.value = { ...made, seed };
    shown.value = made.calls.length;
    detail.value = POINT;
  }, [value, seed, bug]);
  const own = report.value;
  const bugs = value?.state === "ready" ? value.program.bugs().split(" ") : [];
  return (
    <div class="split no-side simulator-view">
      <section class="centre" aria-label="Simulator">
        <div class="heading">
          <h1>The world in which kitbag is tested</h1>
          <p>
            One seed decides storages, rules, failures, crashes and which task runs next. The real
            code of kitbag runs in it, and a model judges the answers; a deliberate bug shows that
            it would notice. <a href={docs("testing.html#simulation")}>How it works</a>
          </p>
        </div>
        {value?.state !== "ready" ? (
          <Missing />
        ) : (
          <>
            <Controls bugs={bugs} />
            {own && (
              <div class="scroll simulated" tabIndex={0} role="group" aria-label="History">
                <Verdict of={own} />
                <p class="muted">
                  Seed {own.seed}: {own.world}
                </p>
                <p class="detail" aria-live="polite">
                  {detail.value}
                </p>
                <div
                  class="history-box"
                  tabIndex={narrow.value ? undefined : 0}
                  role="group"
                  aria-label="Drawing"
                >
                  <History
                    report={own}
                    shown={shown.value}
                    width={narrow.value ? innerWidth - 32 : undefined}
                    tell={(text) => {
                      detail.value = text;
                    }}
                  />
                </div>
                <ul class="legend">
                  {LEGEND.map(([kind, words]) => (
                    <li key={kind} class={kind}>
                      {words}
                    </li>
                  ))}
                </ul>
              </div>
            )}
          </>
        )}
      </section>
    </div>
  );
}
