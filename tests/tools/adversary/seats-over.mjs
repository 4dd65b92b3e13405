// Other seats over the backend of a tool set, with its rules: shells, editors, archives, turns, patches.

const encode = (text) => new TextEncoder().encode(text);
const bytes = (text) => (text === undefined ? null : encode(text));

const SCRIPTS = [
  (a, b) => `cat '${a}'; ls -la '${b}'`,
  (a, b) => `cp '${a}' '${b}'`,
  (a, b) => `mv '${a}' '${b}'; cat '${b}'`,
  (_, b) => `ls -aR '${b}'; find / -type f -exec cat {} ';'`,
  () => "grep -r . / ; cat /*/* /*/*/* /.*/*/*",
  () => "find / -type f ; find /open /ask | wc -l",
  (a, _, text) => `echo '${text.trim()}' >> '${a}'`,
  (a, _, text) => `echo '${text.trim()}' > '${a}'`,
  (a) => `rm -rf '${a}'`,
  (a) => `sed -i s/first/changed/ '${a}'`,
  (_, b) => `cp -r /open '${b}/copied'; cp -r /hidden /open/hidden`,
  () => "for f in /hidden/*/* /ask/* /.kitbag/*/*; do test -e $f && echo $f; done",
  (a, b) => `tee '${b}' < '${a}'`,
];

const plain = (path) => !/['\\]/.test(path);

/** What each seat does over the guarded backend. */
const SEATS = {
  shell: async (api, files, it, dice) => {
    const [a, b] = [it.file(), dice.chance(50) ? it.fresh() : it.directory()];
    if (!plain(a) || !plain(b)) return undefined;
    const script = dice.of(SCRIPTS)(a, b, it.text());
    return { input: script, kind: "shell", run: () => api.bash.bashExecute(files)(script) };
  },
  editor: async (api, files, it, dice) => {
    const path = it.file();
    const input = dice.of([
      { command: "view", path: dice.chance(50) ? path : it.directory() },
      { command: "create", path: it.fresh(), file_text: it.text() },
      { command: "str_replace", path, old_str: "first", new_str: it.text() },
      { command: "insert", path, insert_line: 0, insert_text: it.text() },
    ]);
    return { input, run: () => api.anthropic.textEditorTool(files).run(input) };
  },
  memory: async (api, files, it, dice) => {
    const at = (path) => `/memories/${path}`;
    const input = dice.of([
      { command: "view", path: at(dice.chance(50) ? it.file() : it.directory()) },
      { command: "create", path: at(it.fresh()), file_text: it.text() },
      { command: "str_replace", path: at(it.file()), old_str: "second", new_str: it.text() },
      { command: "delete", path: at(it.file()) },
      { command: "rename", old_path: at(it.file()), new_path: at(it.fresh()) },
    ]);
    const tool = api.anthropic.memoryTool(files, { directory: dice.of(["/", "/open"]) });
    return { input, run: () => tool.run(input) };
  },
  toolset: async (api, files, it, dice) => {
    const tools = new Map(api.anthropic.agentToolset(files).map((tool) => [tool.name, tool]));
    const [name, input] = dice.of([
      ["read", { file_path: it.file() }],
      ["write", { file_path: it.fresh(), content: it.text() }],
      ["edit", { file_path: it.file(), old_string: "first", new_string: it.text() }],
      ["glob", { pattern: it.glob(), path: it.directory() }],
      ["grep", { pattern: it.needle(), path: it.directory() }],
    ]);
    return { input: { name, ...input }, run: () => said(tools.get(name).run(input)) };
  },
  "patch editor": async (api, files, it, dice) => {
    const editor = api.openai.patchEditor(files);
    const path = it.file();
    const [verb, change] = dice.of([
      ["createFile", { path: it.fresh(), diff: `+${it.text().trim()}` }],
      ["updateFile", { path, diff: `@@\n-second\n+${it.text().trim()}`, moveTo: it.fresh() }],
      ["updateFile", { path, diff: `@@\n+${it.text().trim()}` }],
      ["deleteFile", { path }],
    ]);
    return { input: { verb, ...change }, run: () => editor[verb](change) };
  },
  fs: async (api, files, it, dice) => {
    const { promises } = api.fs.createFs(files);
    const [verb, ...args] = dice.of([
      ["readFile", it.file(), "utf8"],
      ["readdir", it.directory(), { recursive: true }],
      ["writeFile", it.fresh(), it.text()],
      ["appendFile", it.file(), it.text()],
      ["rename", it.file(), it.fresh()],
      ["cp", it.directory(), `/open/${dice.word("n")}`, { recursive: true }],
      ["rm", it.file(), { recursive: true, force: true }],
      ["stat", it.file()],
      ["truncate", it.file(), 3],
    ]);
    return { input: [verb, ...args], kind: "data", run: () => said(promises[verb](...args)) };
  },
  archive: async (api, files, _, dice) => {
    const from = dice.of(["/", "/open", "/hidden", "/.kitbag"]);
    return {
      input: { from },
      kind: "data",
      run: () => said(collected(api.tar.toTar(files, { from }))),
    };
  },
  unpack: async (api, files, it, dice) => {
    const inside = new api.kitbag.StateBackend({ files: {} });
    const lenient = api.kitbag.withPolicy(inside, { hiddenCharacters: "allow" });
    const names = [it.fresh(), it.fresh(), "/kept/journal", "/locked/zipped.txt"];
    for (const name of names) await lenient.write(name, it.text());
    const to = dice.of(["/", "/open", "/hidden/one", "/.kitbag", "/locked", "/protected"]);
    // The name of one entry is changed to one of the same length that the library keeps for itself.
    const raw = await collected(api.tar.toTar(inside, {}));
    const archive = patched(raw, "kept/journal", ".kitbag/evil");
    const options = { to, onConflict: dice.of(["skip", "overwrite"]) };
    return {
      ...{ input: { names, to }, kind: "data" },
      run: () => said(api.tar.fromTar(streamOf(archive), files, options)),
    };
  },
  "copy of a tree": async (api, files, it, dice) => {
    const [from, to] = [it.directory(), `/open/${dice.word("n")}`];
    if (!from.startsWith("/")) return undefined;
    const elsewhere = new api.kitbag.StateBackend({ files: {} });
    const inside = dice.chance(50);
    const run = async () => {
      const options = { from, to, onConflict: "overwrite" };
      const done = await said(() =>
        api.transfer.copyTree(files, inside ? files : elsewhere, options),
      );
      return [done, elsewhere.snapshot()];
    };
    return { input: { from, to }, kind: "data", run };
  },
  "a turn": async (api, files, it, dice) => {
    const [path, other, text] = [it.file(), it.fresh(), it.text()];
    const work = dice.of([
      (turn) => turn.edit(path, "first", text),
      (turn) => turn.delete(path),
      (turn) => turn.move(path, other),
      (turn) => turn.write(other, text),
    ]);
    const run = async () => {
      const turn = api.kitbag.begin(files, { by: "agent" });
      try {
        const answers = [await work(turn), await turn.diff()];
        const done = await turn.commit();
        if (done.receipt) it.agent.receipts.push(done.receipt);
        return [...answers, done];
      } finally {
        turn.dispose();
      }
    };
    return { input: { path, other, text }, kind: "data", run };
  },
  undo: async (api, files, it, dice, raw) => {
    const taken = it.world.agents.flatMap(({ receipts }) => receipts);
    const path = dice.of(it.all);
    const text = it.text();
    const forged = {
      ...{ id: "forged", by: "agent", at: "2026-01-01T00:00:00.000Z" },
      files: [{ path, before: bytes(text), after: bytes(raw.files.get(path)) }],
    };
    const receipt = taken.length > 0 && dice.chance(60) ? dice.of(taken) : forged;
    return {
      // Its contents are the agent's own words.
      ...{ input: textOf(receipt), kind: "data" },
      run: () => api.kitbag.undo(files, receipt),
    };
  },
  patch: async (api, files, it, dice, raw) => {
    const path = dice.of(it.all);
    const text = it.text().trim();
    const target = dice.chance(50)
      ? path
      : `${dice.of(["/locked", "/open", "/hidden/one"])}/${text}`;
    const name = dice.of([nameOf, quoted, octal])(target);
    const lines = (raw.files.get(target) ?? "").split("\n").slice(0, 1);
    const patch = raw.files.has(target)
      ? `--- ${name("a")}\n+++ ${name("b")}\n@@ -1,1 +1,1 @@\n-${lines[0]}\n+${text}\n`
      : `--- /dev/null\n+++ ${name("b")}\n@@ -0,0 +1,1 @@\n+${text}\n`;
    const done = async () => {
      const answer = await api.kitbag.applyPatch(files, patch, { by: "agent" });
      return { answer, landed: { target, text } };
    };
    return { input: [patch, target], kind: "data", run: done };
  },
};

const nameOf = (path) => (side) => `${side}${path}`;
const quoted = (path) => (side) => `"${side}${path.replace(/["\\]/g, "\\$&")}"`;
const octal = (path) => (side) => {
  const codes = Array.from(encode(path), (one) => `\\${one.toString(8).padStart(3, "0")}`);
  return `"${side}${codes.join("")}"`;
};

/** What a promise resolves to, or the error. */
async function said(promise) {
  try {
    return await (typeof promise === "function" ? promise() : promise);
  } catch (error) {
    return error;
  }
}

async function collected(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

const streamOf = (archive) => new Blob([archive]).stream();

/** The archive with a name of one of its entries replaced, also in the checksum of a tar header. */
function patched(archive, from, to) {
  const out = Buffer.from(archive);
  for (let at = out.indexOf(from); at >= 0; at = out.indexOf(from, at + 1)) {
    out.write(to, at);
    if (out.toString("latin1", at + 257, at + 262) !== "ustar") continue;
    out.fill(" ", at + 148, at + 156);
    const sum = out.subarray(at, at + 512).reduce((total, one) => total + one, 0);
    out.write(`${sum.toString(8).padStart(6, "0")}\0 `, at + 148);
  }
  return out;
}

/** Every text in a value, also of bytes, errors and base64. */
export function textOf(value, depth = 0) {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (typeof value !== "object" || value === null || depth > 8) return "";
  if (value instanceof Error) {
    const { message, code, path, dest, data } = value;
    return [message, code, path, dest, data, value.cause]
      .map((one) => textOf(one, depth + 1))
      .join("\n");
  }
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries
    .map(([key, one]) => `${Array.isArray(value) ? "" : key}\n${textOf(one, depth + 1)}`)
    .join("\n");
}

const WEIGHTS = {
  ...{ shell: 5, editor: 3, memory: 3, toolset: 3, "patch editor": 3, fs: 3, archive: 1 },
  ...{ unpack: 2, "copy of a tree": 1, "a turn": 3, undo: 3, patch: 3 },
};

/** A call of another seat over the backend of the agent's tools. */
export async function seatCall(api, world, agent, places, raw) {
  const { dice } = world;
  const name = dice.weighed(WEIGHTS);
  let files;
  try {
    files = await agent.set.backend();
  } catch {
    return undefined; // A client that does not tell its roots has none.
  }
  const call = await SEATS[name](api, files, places, dice, raw);
  return call && { kind: "model", ...call, name };
}
