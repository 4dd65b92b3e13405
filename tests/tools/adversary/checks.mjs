// What must hold after every call, of its whole answer and of the files.

import { deceives, wordsIn } from "./dice.mjs";
import { textOf } from "./seats-over.mjs";

/** A promise that was not kept. */
export class Broken extends Error {}

/** The paths whose files differ. */
function differing(before, after) {
  const changed = [...after].filter(([path, text]) => before.get(path) !== text);
  const gone = [...before.keys()].filter((path) => !after.has(path));
  return [...changed.map(([path]) => path), ...gone];
}

/** The files as they are, below and in each agent's turn. */
async function looked(world) {
  const raw = world.raw();
  const views = [];
  for (const agent of world.agents) views.push(await world.view(agent, raw));
  return { raw, views };
}

/** Notes the words that the rules of each agent show it now. */
function learn(world, { raw, views }) {
  for (const [at, agent] of world.agents.entries()) {
    for (const files of new Set([views[at], raw.files])) {
      for (const [path, text] of files) {
        for (const word of wordsIn(`${path}\n${text}`)) world.words.add(word);
        if (agent.isHidden(path)) continue;
        const shown = agent.isAsked(path) ? path : `${path}\n${text}`;
        for (const word of wordsIn(shown)) agent.knows.add(word);
      }
    }
  }
}

/** Watches a world; `before` and `after` are called around each call. */
export class Checks {
  #world;
  #then;
  /** Names that deceive and were there from the beginning. */
  #odd;

  constructor(world) {
    this.#world = world;
    const paths = [...world.raw().files.keys()];
    this.#odd = new Set(paths.flatMap((path) => path.split("/")).filter(deceives));
  }

  /** `isOther`: something was changed since the call before. */
  async before(isOther) {
    if (isOther || !this.#then) {
      this.#then = await looked(this.#world);
      learn(this.#world, this.#then);
    }
    for (const agent of this.#world.agents) {
      agent.inbox.length = 0;
      agent.reviews.length = 0;
    }
    return this.#then;
  }

  async after(agent, call, answer) {
    const world = this.#world;
    const then = this.#then;
    const now = await looked(world);
    this.#then = now;
    learn(world, now);
    const at = world.agents.indexOf(agent);
    const isCommit = call.name === "commit";
    if (answer?.differ) throw new Broken(answer.differ);
    const patches = agent.reviews.map(({ patch }) => patch);
    this.#shows(agent, call, [answer, agent.inbox, patches]);
    // The other parts of a review are data for the program.
    this.#shows(agent, { ...call, kind: "data" }, agent.reviews);
    const raw = differing(then.raw.files, now.raw.files);
    // A commit may merge what others have changed.
    const inTurn = isCommit || !world.hasTurns ? [] : differing(then.views[at], now.views[at]);
    const changed = new Set([...raw, ...inTurn]);
    this.#forbidden(agent, raw, isCommit);
    this.#forbidden(agent.inTurn, inTurn, isCommit);
    this.#names(then, now, at);
    this.#own(now.raw.own, then.raw.own);
    this.#flows(now.raw.files);
    this.#reads(agent, call, answer, then, changed);
    this.#heard(agent, raw);
    const { landed } = answer ?? {};
    if (landed && !answer.answer.error && !answer.answer.code) {
      const stored = now.views[at].get(landed.target) ?? "";
      if (!stored.includes(landed.text)) throw new Broken(`a patch missed ${landed.target}`);
    }
  }

  #forbidden(rules, changed, isCommit) {
    for (const path of changed) {
      if (rules.isHidden(path)) throw new Broken(`changed a hidden file: ${path}`);
      // A person has seen what is committed.
      if (isCommit) continue;
      if (rules.isLocked(path)) throw new Broken(`changed a file that is read-only: ${path}`);
      if (rules.isAsked(path)) throw new Broken(`changed a file that nobody allowed: ${path}`);
    }
  }

  /** No answer has a word of what is hidden, unless the agent sent it. */
  #shows(agent, call, all) {
    const text = textOf(all);
    for (const word of wordsIn(text)) agent.told.add(word);
    const sent = new Set(wordsIn(textOf(call.input)));
    for (const word of wordsIn(text)) {
      if (agent.knows.has(word) || sent.has(word) || !this.#world.words.has(word)) continue;
      throw new Broken(`told a hidden ${word[1] === "c" ? "content" : "name"}: ${word}`);
    }
    if (call.kind === "model" && deceives(text)) {
      throw new Broken("told a name with a character that cannot be seen");
    }
  }

  #names(then, now, at) {
    for (const [before, after] of [
      [then.raw.files, now.raw.files],
      [then.views[at], now.views[at]],
    ]) {
      for (const path of after.keys()) {
        if (before.has(path)) continue;
        // One that was there may come back, and go with its directory.
        const name = path.split("/").find((one) => deceives(one) && !this.#odd.has(one));
        if (name) throw new Broken(`created a name that deceives: ${JSON.stringify(path)}`);
      }
    }
  }

  /** What is planted among the library's own files stays, and no call adds to them. */
  #own(own, before) {
    for (const [path, text] of Object.entries(this.#world.planted)) {
      if (own.get(path) !== text) throw new Broken(`changed a file of the library: ${path}`);
    }
    for (const path of own.keys()) {
      if (!before.has(path) && /evil|kept-here|zn/.test(path)) {
        throw new Broken(`planted a file of the library: ${path}`);
      }
    }
  }

  #flows(files) {
    if (!this.#world.hasLabels) return;
    for (const [path, text] of files) {
      if (!path.startsWith("/protected/")) continue;
      const word = wordsIn(text).find((one) => this.#world.web.has(one));
      if (word) throw new Broken(`a labelled text reached ${path}: ${word}`);
    }
  }

  /** A tool changes only what its set has read or made. */
  #reads(agent, { name, input }, answer, then, changed) {
    const isError = answer?.isError ?? false;
    if (isError) return;
    const before = then.views[this.#world.agents.indexOf(agent)];
    if (agent.mustRead && (name === "edit_file" || name === "write_file")) {
      for (const path of changed) {
        if (before.has(path) && !agent.seen.has(path)) {
          throw new Broken(`changed a file that was never read: ${path}`);
        }
      }
    }
    for (const path of changed) agent.seen.add(path);
    if (name !== "read_file") return;
    for (const path of before.keys()) if (isNamed(input.file_path, path)) agent.seen.add(path);
  }

  /** Who may not see any of the changed files is told of nothing. */
  #heard(agent, raw) {
    // A folder tells a little later.
    if (this.#world.kind !== "stranger") return;
    for (const other of this.#world.agents) {
      if (other === agent || other.inbox.length === 0) continue;
      const shown = raw.filter((path) => !other.isHidden(path));
      if (shown.length > 0) continue;
      throw new Broken(`agent ${other.id} heard of a change that its rules hide`);
    }
    const other = this.#world.agents.find((one) => one !== agent);
    this.#shows(other, { input: undefined, kind: "data" }, other.inbox);
  }
}

/** Whether a spelling may mean a path: by its last name, which is in no other one. */
const isNamed = (spelled, path) => {
  const words = wordsIn(path);
  const last = words.at(-1);
  return last !== undefined && String(spelled).includes(last);
};
