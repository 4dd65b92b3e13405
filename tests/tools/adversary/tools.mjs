// Calls of the file tools, whatever presents them, and of what MCP has beside them.

const optional = (dice, percent, value) => (dice.chance(percent) ? value() : undefined);

/** Arguments of each tool. */
const INPUTS = {
  ls: (it) => ({ path: it.directory() }),
  read_file: (it, dice) => ({ file_path: it.file(), limit: optional(dice, 20, () => 1) }),
  write_file: (it, dice) => ({
    file_path: dice.chance(50) ? it.fresh() : it.file(),
    content: it.text(),
  }),
  edit_file: (it, dice) => ({
    file_path: it.file(),
    old_string: dice.of(["first", "second", "missing", "z", "\n"]),
    new_string: it.text(),
    replace_all: dice.chance(40),
  }),
  append_file: (it) => ({ file_path: it.file(), content: it.text() }),
  delete: (it, dice) => ({ file_path: dice.chance(80) ? it.file() : it.directory() }),
  glob: (it, dice) => ({ pattern: it.glob(), path: optional(dice, 50, () => it.directory()) }),
  grep: (it, dice) => ({
    pattern: it.needle(),
    path: optional(dice, 60, () => (dice.chance(50) ? it.directory() : it.file())),
    glob: optional(dice, 20, () => it.glob()),
    regex: dice.chance(50),
    output_mode: dice.of(["content", "files_with_matches", "count"]),
    max_count: optional(dice, 20, () => dice.below(3)),
  }),
  move_file: (it, dice) => ({
    source_path: dice.chance(80) ? it.file() : it.directory(),
    destination_path: dice.chance(60) ? it.fresh() : it.file(),
    overwrite: dice.chance(30),
  }),
  copy_file: (it, dice) => ({
    source_path: dice.chance(80) ? it.file() : it.directory(),
    destination_path: dice.chance(60) ? it.fresh() : it.file(),
    overwrite: dice.chance(30),
  }),
};

const CHANGES = {
  diff: (it, dice) => (dice.chance(60) ? {} : { path: dice.of([it.directory(), it.file()]) }),
  undo: (_, dice, ids) => ({ change: ids.length > 0 && dice.chance(95) ? dice.of(ids) : "none" }),
  commit: () => ({}),
};

const FILES = {
  ...{ ls: 3, read_file: 6, write_file: 5, edit_file: 5, append_file: 2, delete: 2 },
  ...{ glob: 2, grep: 4, move_file: 3, copy_file: 3 },
};

/** A call of a tool. */
export function toolCall(world, agent, places) {
  const { dice } = world;
  const offered = new Set(agent.set.tools.map(({ name }) => name));
  const changes = agent.hasChanges
    ? { diff: 6, undo: 8, commit: offered.has("commit") ? 3 : 0 }
    : {};
  const name = dice.weighed({ ...FILES, ...changes });
  const ids = world.agents.flatMap((one) => one.ids);
  const input = Object.fromEntries(
    Object.entries((INPUTS[name] ?? CHANGES[name])(places, dice, ids)).filter(
      ([, value]) => value !== undefined,
    ),
  );
  // A version that a condition names, which only MCP has.
  if (agent.kind === "mcp" && dice.chance(10) && agent.versions?.length) {
    input.ifMatch = dice.of(agent.versions);
  }
  return { name, input, kind: "model", run: () => agent.call(name, input) };
}

/** What a client of MCP asks beside tools. */
export function resourceCall(world, agent, places) {
  const { dice } = world;
  const verb = dice.of(["list", "read", "read", "subscribe"]);
  const path = verb === "list" ? undefined : `/${places.file().replace(/^\/+/, "")}`;
  return {
    name: `resources/${verb}`,
    input: { path },
    kind: "model",
    run: () => agent.resources[verb](path),
  };
}

/** Reading calls about a hidden file and about one that is nowhere: their answers must be alike. */
export function twinCall(world, agent, places) {
  const { dice } = world;
  const hidden = places.all.filter((path) => agent.isHidden(path) && !/[^ -~]/.test(path));
  if (hidden.length === 0) return undefined;
  const real = dice.of(hidden);
  const at = real.lastIndexOf("/");
  const ending = /\.[a-z]+$/.exec(real)?.[0] ?? "";
  const none = `${real.slice(0, at)}/${dice.word("n")}${ending}`;
  if (real.length !== none.length || !agent.isHidden(none)) return undefined;
  const name = dice.of(["ls", "read_file", "grep", "glob", "edit_file", "delete", "copy_file"]);
  const inputs = {
    ls: (path) => ({ path }),
    read_file: (file_path) => ({ file_path }),
    grep: (path) => ({ pattern: "second", path, output_mode: "content" }),
    glob: (path) => ({ pattern: "**", path }),
    edit_file: (file_path) => ({ file_path, old_string: "first", new_string: "x" }),
    delete: (file_path) => ({ file_path }),
    copy_file: (source_path) => ({ source_path, destination_path: "/open/twin.txt" }),
  };
  const ask = async (path) => {
    const answer = await agent.call(name, inputs[name](path));
    return JSON.stringify(answer, (key, value) => (/id$/i.test(key) ? undefined : value))
      .replaceAll(path, "PATH")
      .replaceAll(path.slice(at + 1), "NAME");
  };
  return {
    ...{ name: `twin ${name}`, input: { real, none }, kind: "model" },
    run: async () => {
      const [one, other] = [await ask(real), await ask(none)];
      if (one !== other) return { differ: `a hidden file: ${one}\na missing one: ${other}` };
      return one;
    },
  };
}
