// What the simulator reports of a seed, and its program, which is compiled apart from the page: it may
// be on its way, or not there at all.

export interface Call {
  client: number;
  /** The caller; callers of all clients are counted together. */
  lane: number;
  name: string;
  about: string;
  outcome: string;
  /** In simulated microseconds. */
  began: number;
  ended: number;
  end: "answered" | "unknown" | "cancelled" | "crashed" | "running";
}

export interface Fault {
  client: number;
  at: number;
  what: string;
}

export interface Report {
  /** What was simulated, in words. */
  world: string;
  calls: Call[];
  faults: Fault[];
  /** Where the history contradicts the model. */
  wrong: string[];
}

export interface Simulator {
  simulate(seed: number, bug: string): string;
  bugs(): string;
}

/** Where the program is: `building` while this machine compiles it. */
export type Found =
  | { state: "ready"; program: Simulator }
  | { state: "building" | "absent" }
  | { state: "failed"; error: string };

const place = (name: string) => new URL(`simulator/${name}`, document.baseURI).href;

async function told(): Promise<{ state: string; error?: string }> {
  try {
    const answer = await fetch(place("state.json"), { cache: "no-store" });
    // A server may answer every unknown address with the page.
    const json = answer.headers.get("content-type")?.includes("json");
    return answer.ok && json ? await answer.json() : { state: "absent" };
  } catch {
    return { state: "absent" };
  }
}

export async function findSimulator(): Promise<Found> {
  const { state, error = "" } = await told();
  if (state === "building") return { state };
  if (state === "failed") return { state, error };
  if (state !== "ready") return { state: "absent" };
  try {
    const program = await import(/* @vite-ignore */ place("kitbag_simulation.js"));
    await program.default({ module_or_path: place("kitbag_simulation_bg.wasm") });
    return { state, program };
  } catch (thrown) {
    return { state: "failed", error: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

const REFUSALS =
  /^(already_exists|conflict|not_found|no_match|invalid_\w+|permission_denied|quota_exceeded)$/;
const LOOKS = new Set(["read", "readRaw", "download", "ls", "glob", "grep", "trespass"]);

/** The kind of a call, which decides its colour. */
export function kindOf({ end, name, outcome }: Call): string {
  if (end !== "answered") return end;
  if (REFUSALS.test(outcome)) return "refused";
  return LOOKS.has(name) ? "look" : "change";
}

export const milliseconds = (micros: number) => `${(micros / 1000).toFixed(2)} ms`;

/** A call in one sentence. */
export function sentence(call: Call, number: number): string {
  const { client, began, ended, name, about, outcome } = call;
  const span = `${milliseconds(began)} – ${milliseconds(ended)}`;
  return `call ${number}, client ${client}, ${span}: ${name} ${about} → ${outcome}`;
}
