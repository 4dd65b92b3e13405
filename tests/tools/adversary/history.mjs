// The history of one seed: two agents take turns, and every promise is checked after each call.

import { Broken, Checks } from "./checks.mjs";
import { Places } from "./paths.mjs";
import { seatCall, textOf } from "./seats-over.mjs";
import { resourceCall, toolCall, twinCall } from "./tools.mjs";
import { worldOf } from "./world.mjs";

/** What was rejected, and nobody handled: it ends a process. */
const unhandled = [];
process.on("unhandledRejection", (error) => unhandled.push(error));

/** A call that takes longer hangs. A commit may wait ten seconds for the journal of another one. */
const PATIENCE_MS = 20_000;

async function inTime(work, what) {
  let timer;
  const late = new Promise((_, reject) => {
    const broken = new Broken(`${what} took longer than ${PATIENCE_MS / 1000} s`);
    timer = setTimeout(() => reject(broken), PATIENCE_MS);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What is told to a client arrives a little later. */
async function delivered({ agents, kind }) {
  if (kind !== "stranger" || !agents.some((one) => one.resources)) return;
  for (let turn = 0; turn < 6; turn++) await new Promise(setImmediate);
}

async function callOf(api, world, agent, places, raw) {
  const { dice } = world;
  const more = agent.resources ? { resource: 3 } : {};
  const kind = dice.weighed({ tool: 14, seat: 9, twin: 2, ...more });
  if (kind === "resource") return resourceCall(world, agent, places);
  if (kind === "twin") return twinCall(world, agent, places);
  if (kind === "seat") return seatCall(api, world, agent, places, raw);
  return toolCall(world, agent, places);
}

/** What the program and others do between calls, past all rules. Whether they did something. */
async function program(world, agent, paths) {
  const { dice } = world;
  if (dice.chance(5) && paths.length > 0) {
    const path = dice.of(paths);
    if (!path.startsWith("/mnt/")) await world.base.edit(path, "second", "second by others", true);
    return true;
  }
  if (!world.hasTurns || !dice.chance(4)) return false;
  await agent.top.commit();
  return true;
}

const shortly = (value) => {
  const text = JSON.stringify(value, (_, one) =>
    one instanceof Error ? `${one.name}: ${one.message}` : one,
  );
  return (text ?? "nothing").slice(0, 600);
};

/** Runs a seed. Resolves to the promise that was broken, or undefined. */
export async function run(api, seed, told = () => {}) {
  const world = await worldOf(api, seed);
  const { dice, agents } = world;
  told(`${world.kind}; ${world.layers.join(", ") || "no layers"}; ${world.top}`);
  for (const agent of agents) {
    told(`agent ${agent.id}: ${agent.kind}${agent.hasChanges ? " with changes" : ""}`);
  }
  const checks = new Checks(world);
  let said = "";
  try {
    const steps = 30 + dice.below(31);
    for (let step = 0; step < steps; step++) {
      const agent = dice.of(agents);
      const paths = [...world.raw().files.keys()];
      const isOther = await program(world, agent, paths);
      if (isOther) await delivered(world);
      const { raw, views } = await checks.before(isOther);
      const places = new Places(world, agent, views[agent.id]);
      const call = await callOf(api, world, agent, places, raw);
      if (!call) continue;
      said = `${step}. agent ${agent.id}: ${call.name} ${shortly(call.input)}`;
      told(said);
      const answer = await inTime(call.run, call.name);
      await delivered(world);
      said += `\n   ${shortly(answer)}`;
      told(`   ${shortly(answer)}`);
      for (const [, id] of textOf(answer).matchAll(/\[change (\S+)\]/g)) agent.ids.push(id);
      await inTime(() => checks.after(agent, call, answer), "the check");
      const [lost] = unhandled.splice(0);
      if (lost) throw new Broken(`a rejection that nobody handled: ${lost?.stack ?? lost}`);
    }
    await inTime(() => world.files.ls("/"), "a call at the end");
    if (world.hasTurns) {
      for (const { top } of new Set(agents))
        await inTime(() => top.commit(), "a commit at the end");
    }
    return undefined;
  } catch (error) {
    if (error instanceof Broken) return `${error.message}\n   ${said}`;
    return `a call threw: ${error?.stack ?? error}\n   ${said}`;
  } finally {
    world.close();
  }
}
