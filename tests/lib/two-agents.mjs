// Agents that work on one tree in turns: each turn reads and raises a number that all share, adds a
// line to a text that all share, and creates a file of its own. Also loaded by pages.

const decoder = new TextDecoder();
const encoder = new TextEncoder();

async function textOf(backend, path) {
  const [{ content, error }] = await backend.downloadFiles([path]);
  if (error && error !== "file_not_found") throw new Error(`${path}: ${error}`);
  return content ? decoder.decode(content) : "";
}

/** The number, written so that no number is a part of another one. */
const raised = (text) => `#${Number(text.slice(1)) + 1}\n`;

const put = async (backend, path, text) => {
  const [{ error }] = await backend.uploadFiles([[path, encoder.encode(text)]]);
  if (error) throw new Error(`${path}: ${error}`);
};

/** One agent; `begin` is kitbag's. Returns its conflicts, and those for which there was no reason. */
export async function agent(begin, backend, { who, turns }) {
  let conflicts = 0;
  const unfounded = [];
  for (let number = 0; number < turns; ) {
    const turn = begin(backend, { by: who });
    const seen = { "/count": await textOf(turn, "/count"), "/log": await textOf(turn, "/log") };
    await put(turn, "/count", raised(seen["/count"]));
    await put(turn, "/log", `${seen["/log"]}${who} ${number}\n`);
    await put(turn, `/${who}/${number}`, `${who} ${number}\n`);
    const done = await turn.commit();
    turn.dispose();
    if (done.receipt) {
      number += 1;
      continue;
    }
    if (done.code !== "conflict") throw new Error(`${done.code}: ${done.error}`);
    conflicts += 1;
    for (const { path } of done.conflicts) {
      // The number only rises, and the text only grows.
      if (!(path in seen) || (await textOf(backend, path)) === seen[path]) unfounded.push(path);
    }
  }
  return { conflicts, unfounded };
}

/** What an edit answers when another one was faster: the text that it looks for is gone, or a part. */
const RACED = ["conflict", "no_match", "not_unique"];

/** The same changes by plain calls: an edit that meets another one is made again. */
export async function plain(backend, { who, turns }) {
  const changed = async (path, change) => {
    for (;;) {
      const before = await textOf(backend, path);
      const { error, code } = await backend.edit(path, before, change(before));
      if (!error) return;
      if (!RACED.includes(code)) throw new Error(error);
    }
  };
  for (let number = 0; number < turns; number++) {
    await changed("/count", raised);
    await changed("/log", (text) => `${text}${who} ${number}\n`);
    await put(backend, `/${who}/${number}`, `${who} ${number}\n`);
  }
}

/** What is wrong with the tree after agents with these names have ended. */
export async function wrong(backend, whos, turns) {
  const found = [];
  const count = await textOf(backend, "/count");
  if (count !== `#${whos.length * turns}\n`) found.push(`the number is ${count}`);
  const lines = (await textOf(backend, "/log")).trim().split("\n").sort();
  const wanted = whos.flatMap((who) => Array.from({ length: turns }, (_, at) => `${who} ${at}`));
  if (lines.join() !== wanted.sort().join()) found.push(`the text has ${lines.length} lines`);
  for (const line of wanted) {
    const path = `/${line.replace(" ", "/")}`;
    if ((await textOf(backend, path)) !== `${line}\n`) found.push(`${path} is not whole`);
  }
  return found;
}

/** Two agents, each with a backend of its own over one store, and the same by plain calls. */
export async function twoAgents(begin, make, turns) {
  const whos = ["one", "two"];
  const began = performance.now();
  const [backend] = [await make("turns"), await put(await make("turns"), "/count", "#0\n")];
  const each = await Promise.all(
    whos.map(async (who) => agent(begin, await make("turns"), { who, turns })),
  );
  const between = performance.now();
  const failures = await wrong(backend, whos, turns);
  await put(await make("plain"), "/count", "#0\n");
  await put(await make("plain"), "/log", "-\n");
  const plainly = performance.now();
  await Promise.all(whos.map(async (who) => plain(await make("plain"), { who, turns })));
  return {
    failures: [
      ...failures,
      ...each.flatMap(({ unfounded }) => unfounded.map((p) => `no reason: ${p}`)),
    ],
    conflicts: each.reduce((sum, one) => sum + one.conflicts, 0),
    milliseconds: (between - began) / (2 * turns),
    plainMilliseconds: (performance.now() - plainly) / (2 * turns),
  };
}
