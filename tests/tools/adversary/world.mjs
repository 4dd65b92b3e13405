// A world of one seed: files whose names and contents have words that are nowhere else, layers over them in
// some order, and two agents, each with a tool set and rules of its own.

import { Dice, UNSEEN, wordsIn } from "./dice.mjs";
import { joined, rooted, rulesOf } from "./rules.mjs";
import { seatOf } from "./seats.mjs";
import { STORES } from "./stores.mjs";

const LABEL = "untrusted";

/** The files, by chance. */
function filesOf(dice) {
  const files = {};
  const put = (path) => {
    const text = `${dice.word("c")} first\nsecond ${dice.word("c")}\n`;
    files[path] = text;
  };
  const names = (directory, count, ending = ".txt") => {
    for (let one = 0; one < count; one++) put(`${directory}/${dice.word("n")}${ending}`);
  };
  names("/open", 2);
  names("/open/sub", 1, ".md");
  names("/hidden/one", 2);
  names(`/hidden/one/${dice.word("n")}`, 1);
  names("/hidden/two", 2);
  names("/hidden/both", 1);
  names("/locked", 2);
  names("/ask", 1);
  names("/web", 2, ".md");
  names("/protected", 1, ".md");
  if (dice.chance(50)) names("/open", 1, ".key");
  if (dice.chance(40)) put(`/open/say "${dice.word("n")}" once.txt`);
  if (dice.chance(50)) put(`/open/in${dice.of(UNSEEN)}side${dice.word("n")}.txt`);
  if (dice.chance(30)) put(`/hidden/two/in${dice.of(UNSEEN)}side${dice.word("n")}.txt`);
  if (dice.chance(30)) files["/.gitignore"] = "*.log\n/web/\n";
  return files;
}

/** The library's own files, which no call reaches; at the root, since a directory that goes takes its own along. */
function ownOf(dice) {
  const own = {};
  for (const directory of ["/.kitbag/kept-here", "/.kitbag/turns/.aside"]) {
    own[`${directory}/${dice.word("n")}`] = `own ${dice.word("c")}\n`;
  }
  return own;
}

/** The layers below the tool sets. */
function layered(api, dice, store, world) {
  const { kitbag } = api;
  let files = store.backend;
  if (world.isBare) return files;
  if (dice.chance(30)) {
    const text = `${dice.word("c")}\n`;
    const mounted = new kitbag.StateBackend({ files: { [`/${dice.word("n")}.txt`]: text } });
    files = new kitbag.CompositeBackend(files, { "/mnt/": mounted });
    world.mounted = mounted;
  }
  const layers = {
    rules: (inner) => {
      const hides = dice.chance(50) ? ["/hidden/both"] : [];
      const locks = dice.chance(50) ? ["/locked"] : [];
      const common = rulesOf(dice, { hides, locks, asks: [], keys: false });
      world.common = common;
      return kitbag.withPolicy(inner, common.policy);
    },
    labels: (inner) => {
      const then = dice.of(["ask", "refuse"]);
      world.hasLabels = true;
      return api.provenance.withProvenance(inner, {
        labels: [{ paths: ["/web/**"], as: LABEL }],
        flows: [{ from: LABEL, to: ["/protected/**"], then }],
        ...(then === "ask" && { onAsk: () => false }),
      });
    },
    ignore: (inner) => api.ignore.withIgnore(inner, { files: [".gitignore"] }),
    passing: (inner) => kitbag.withPolicy(inner, { quota: { maxFiles: 500 } }),
  };
  const chosen = Object.entries({ rules: 40, labels: 45, ignore: 25, passing: 25 });
  for (const name of dice.shuffled(chosen.filter(([, often]) => dice.chance(often)))) {
    world.layers.push(name[0]);
    files = layers[name[0]](files);
  }
  return files;
}

/** What tool sets are over: plain files, or what keeps changes apart or notes them. */
async function topsOf(api, dice, files, world) {
  const { kitbag, history } = api;
  const kinds = { plain: 3, "one turn": 3, "own turns": 2, "one history": 4, "own histories": 1 };
  const kind = world.isBare ? "plain" : dice.weighed({ ...kinds, kept: 1 });
  world.top = kind;
  const notes = new kitbag.StateBackend({ files: {} });
  const keepIn = { backend: notes };
  const make = {
    plain: () => files,
    "one turn": () => kitbag.begin(files, { by: "both" }),
    "own turns": (by) => kitbag.begin(files, { by }),
    "one history": () => history.withHistory(files, { keepIn, by: "both" }),
    "own histories": (by) =>
      history.withHistory(files, { keepIn: { backend: notes, path: `/${by}` }, by }),
    kept: (by) => history.beginKept(files, { keepIn, name: by, by }),
  }[kind];
  const isOne = !kind.startsWith("own") && kind !== "kept";
  const first = make("agent0");
  world.keepsChanges = kind !== "plain";
  world.hasTurns = kind.includes("turn") || kind === "kept";
  if (world.hasLabels && world.hasTurns) {
    // The checks look at a turn's changes, which taints.
    const { files: found } = await files.glob("**", "/web");
    for (const { path } of found ?? []) await files.read(path);
  }
  return [first, isOne ? first : make("agent1")];
}

/** The roots of a client: a directory, or that it does not tell. */
const rootsOf = (dice, kind) =>
  kind === "mcp" && dice.chance(35)
    ? dice.of([["/open"], ["/open", "/locked"], "silent"])
    : undefined;

/** The rules of an agent; some have none, and are kept only from the library's own files. */
function rulesFor(dice, id, world) {
  if (world.isBare || dice.chance(10)) return undefined;
  const own = id === 0 ? "/hidden/one" : "/hidden/two";
  return rulesOf(dice, {
    hides: dice.chance(90) ? [own, "/hidden/both"] : [own],
    locks: dice.chance(55) ? ["/locked"] : [],
    asks: dice.chance(40) ? ["/ask"] : [],
    keys: dice.chance(50),
  });
}

async function agentOf(api, dice, world, id, top) {
  const rules = rulesFor(dice, id, world);
  const kind = dice.weighed({ tools: 4, mcp: 4, anthropic: 1, openai: 1 });
  const roots = rootsOf(dice, kind);
  const models = [rules, roots && rooted(roots === "silent" ? [] : roots)].filter(Boolean);
  const agent = {
    ...{ id, top, kind, roots, reviews: [], inbox: [], receipts: [], ids: [] },
    ...joined([...models, ...(world.common ? [world.common] : [])]),
    // What is below a turn judges only its commit.
    inTurn: joined(models),
    knows: new Set(),
    told: new Set(),
    seen: new Set(),
  };
  agent.hasChanges = world.keepsChanges && dice.chance(85);
  const decide = async (review) => {
    agent.reviews.push(review);
    return dice.of([
      ...[{ type: "accept" }, { type: "accept" }, { type: "reject", message: "no" }, undefined],
      { type: "edit", discard: ["/open/sub/**"] },
    ]);
  };
  const mayCommit = world.hasTurns && dice.chance(70);
  const options = {
    tools: "all",
    ...(agent.hasChanges && {
      changes: api.history.changeTools(mayCommit ? { commit: decide } : undefined),
    }),
    ...(dice.chance(25) && { requireReadBeforeEdit: false }),
    ...(!world.isBare &&
      dice.chance(20) && { ignore: api.ignore.ignoreFiles({ files: [".gitignore"] }) }),
    ...(dice.chance(20) && { toolTokenLimitBeforeEvict: 40 }),
  };
  agent.mustRead = options.requireReadBeforeEdit === undefined;
  agent.hasIgnore = options.ignore !== undefined;
  let below = top;
  if (rules && (agent.hasChanges || dice.chance(60))) {
    const isPlain = Object.keys(rules.policy).length === 1 && dice.chance(50);
    if (isPlain) options.permissions = rules.policy.permissions;
    else options.policy = rules.policy;
  } else if (rules) below = api.kitbag.withPolicy(top, rules.policy);
  Object.assign(agent, await seatOf(api, agent, below, options));
  return agent;
}

/** The contents of a turn: the files below it, with its changes. */
async function overlaid(turn, below) {
  const { changes, error } = await turn.diff();
  if (!changes) throw new Error(`the turn could not be looked at: ${error}`);
  const files = new Map(below);
  const decoder = new TextDecoder();
  for (const { kind, from, path } of changes) {
    if (kind === "moved") files.delete(from);
    files.delete(path);
  }
  for (const { path, after } of changes) if (after) files.set(path, decoder.decode(after));
  return files;
}

export async function worldOf(api, seed) {
  const dice = new Dice(seed);
  const kind = dice.weighed({ memory: 6, folder: 2, stranger: 5 });
  const [files, own] = [filesOf(dice), ownOf(dice)];
  const store = await STORES[kind](api, files, own);
  const world = { seed, dice, kind, planted: own, layers: [], words: new Set(), web: new Set() };
  // The object of somebody else itself, which only the adapters guard.
  world.isBare = kind === "stranger" && dice.chance(45);
  world.close = () => {
    for (const agent of world.agents ?? []) agent.close();
    store.close();
  };
  try {
    for (const [path, text] of Object.entries({ ...files, ...own })) {
      for (const word of wordsIn(path + text)) world.words.add(word);
      if (path.startsWith("/web/")) for (const word of wordsIn(text)) world.web.add(word);
    }
    const stack = layered(api, dice, store, world);
    world.files = stack;
    const tops = await topsOf(api, dice, stack, world);
    world.agents = [];
    for (const id of [0, 1]) {
      world.agents.push(await agentOf(api, dice, world, id, tops[id]));
    }
  } catch (error) {
    world.close();
    throw error;
  }
  world.base = store.backend;
  world.raw = () => {
    const { files: now, own: kept } = store.read();
    for (const [path, { content }] of Object.entries(world.mounted?.snapshot() ?? {})) {
      now.set(`/mnt${path}`, content);
    }
    return { files: now, own: kept };
  };
  world.view = (agent, raw) => (world.hasTurns ? overlaid(agent.top, raw.files) : raw.files);
  return world;
}
