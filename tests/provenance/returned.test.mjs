// Labels on every way back: what a labelled file held and lost comes back by an undo, a restore, a pin, a
// kept turn, an archive or by heart, through a conversation that has read nothing.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  applyPatch,
  begin,
  CompositeBackend,
  createFileTools,
  LocalShellBackend,
  StateBackend,
  toPatch,
  undo,
  withPolicy,
} from "kitbag";
import { beginKept, changeTools, keptTurns, openPin, withHistory } from "kitbag/history";
import { withBash } from "kitbag/just-bash";
import { withProvenance } from "kitbag/provenance";
import { fromTar, toTar } from "kitbag/tar";
import { copyTree } from "kitbag/transfer";
import { memory, must, opened, PAGE, PLANT, rules } from "./lib.mjs";

const SUMMARY = "/work/summary.md";
const TEXT = `It says: ${PLANT}\n`;
const bytes = (text) => new TextEncoder().encode(text);
const put = async (files, path, text) => must(await files.uploadFiles([[path, bytes(text)]]));
const done = (answer) => {
  assert.equal(answer.error, undefined, answer.error);
  return answer.receipt ?? answer;
};

/** A labelled summary, which a conversation wrote that has read the page, and a fresh conversation. */
async function stack(more) {
  const { inner, files } = opened(true, memory(), more);
  const kept = memory({});
  const noted = (conversation) =>
    withHistory(conversation, { keepIn: { backend: kept }, writeMode: "overwrite" });
  must(await files.read(PAGE));
  await put(noted(files), SUMMARY, TEXT);
  const fresh = files.conversation();
  return { inner, kept, noted, tainted: files, fresh };
}

const committed = async (files, work) => {
  const turn = begin(files);
  await work(turn);
  return done(await turn.commit());
};

/** Brings the text back, and says where. The summary is labelled and stands there at first. */
const BACK = {
  "undo of a deletion": async ({ fresh }) => {
    const receipt = await committed(fresh, (turn) => turn.delete(SUMMARY));
    done(await undo(fresh.conversation(), receipt));
  },
  "undo of a deletion by a receipt that was sent as text": async ({ fresh }) => {
    const receipt = await committed(fresh, (turn) => turn.delete(SUMMARY));
    const files = receipt.files.map(({ path, before, after }) => ({
      ...{ path, after },
      before: bytes(new TextDecoder().decode(before)),
    }));
    done(await undo(fresh.conversation(), { ...receipt, files }));
  },
  "undo of a replacement": async ({ fresh }) => {
    const receipt = await committed(fresh, (turn) => put(turn, SUMMARY, "clean\n"));
    done(await undo(fresh.conversation(), receipt));
  },
  "undo of an undo": async ({ fresh }) => {
    const first = await committed(fresh, (turn) => turn.delete(SUMMARY));
    const second = done(await undo(fresh.conversation(), first));
    const third = done(await undo(fresh.conversation(), second));
    done(await undo(fresh.conversation(), third));
  },
  "restore after a deletion": async ({ fresh, noted }) => {
    const { entries } = await noted(fresh).log(SUMMARY);
    must(await noted(fresh.conversation()).delete(SUMMARY));
    must(await noted(fresh).restore(SUMMARY, entries[0].id));
  },
  "restore after a replacement": async ({ fresh, noted }) => {
    const { entries } = await noted(fresh).log(SUMMARY);
    must(await noted(fresh.conversation()).write(SUMMARY, "clean\n"));
    must(await noted(fresh).restore(SUMMARY, entries[0].id));
  },
  "restore of a whole tree": async ({ fresh, noted }) => {
    const { entries } = await noted(fresh).log("/");
    must(await noted(fresh.conversation()).delete("/work"));
    must(await noted(fresh).restore("/", entries[0].id));
  },
  "restore from a pin": async ({ fresh, noted }) => {
    const { pin } = must(await noted(fresh.conversation()).pin());
    must(await fresh.conversation().delete(SUMMARY));
    must(await noted(fresh).restore("/", pin));
  },
  "restore of a file that was moved and stands elsewhere": async ({ fresh, noted }) => {
    const { entries } = await noted(fresh).log(SUMMARY);
    must(await noted(fresh.conversation()).move(SUMMARY, "/work/other.md"));
    must(await noted(fresh).restore(SUMMARY, entries[0].id));
  },
  "the tool undo": async ({ fresh, noted }) => {
    const tools = createFileTools(noted(fresh.conversation()), { changes: changeTools() });
    const { text } = await tools.call("delete", { file_path: SUMMARY });
    const change = /\[change (\S+)\]/.exec(text)[1];
    must(await tools.call("undo", { change }));
  },
  "a deletion of the directory above, and its undo": async ({ fresh }) => {
    const receipt = await committed(fresh, (turn) => turn.delete("/work"));
    done(await undo(fresh.conversation(), receipt));
  },
  "the same text by heart": async ({ fresh }) => {
    must(await fresh.delete(SUMMARY));
    must(await fresh.conversation().write(SUMMARY, TEXT));
  },
  "the same text in another file": async ({ fresh }) => {
    must(await fresh.delete(SUMMARY));
    must(await fresh.conversation().write("/work/elsewhere.md", TEXT));
    return "/work/elsewhere.md";
  },
  "an edit of the whole file": async ({ fresh }) => {
    must(await fresh.delete(SUMMARY));
    await put(fresh, SUMMARY, "clean\n");
    must(await fresh.conversation().edit(SUMMARY, "clean\n", TEXT));
  },
  "an archive": async ({ inner, fresh }) => {
    const archive = await new Response(toTar(inner, { from: "/work" })).arrayBuffer();
    must(await fresh.delete(SUMMARY));
    must(await fromTar(new Uint8Array(archive), fresh.conversation(), { to: "/work" }));
  },
  "a copy of the tree": async ({ inner, fresh }) => {
    const backup = new StateBackend({ scope: "instance" });
    must(await copyTree(inner, backup));
    must(await fresh.delete(SUMMARY));
    must(await copyTree(backup, fresh.conversation(), { from: "/work", to: "/work" }));
  },
  "a patch": async ({ fresh }) => {
    const elsewhere = begin(new StateBackend({ scope: "instance" }));
    await put(elsewhere, SUMMARY, TEXT);
    const { patch } = must(toPatch((await elsewhere.diff()).changes));
    must(await fresh.delete(SUMMARY));
    done(await applyPatch(fresh.conversation(), patch));
  },
  "a shell's rm, and an undo by its history": async ({ fresh, noted }) => {
    const { entries } = await noted(fresh).log(SUMMARY);
    must(await withBash(noted(fresh.conversation())).execute(`rm ${SUMMARY}`));
    must(await noted(fresh).restore(SUMMARY, entries[0].id));
  },
  "a text that was stored past the rules, deleted and restored": async ({
    inner,
    fresh,
    noted,
  }) => {
    await put(inner, SUMMARY, "another text from outside\n");
    must(await noted(fresh).delete(SUMMARY));
    const { entries } = await noted(fresh).log(SUMMARY);
    must(await noted(fresh.conversation()).restore(SUMMARY, entries[1].id));
    await put(fresh.conversation(), "/work/copy.md", "another text from outside\n");
    return "/work/copy.md";
  },
};

for (const [name, back] of Object.entries(BACK)) {
  test(`labelled content comes back labelled: ${name}`, async () => {
    const made = await stack();
    assert.deepEqual(made.fresh.reads, []);
    const path = (await back(made)) ?? SUMMARY;
    assert.deepEqual(await made.tainted.labels(path), { labels: ["untrusted"] });
  });

  test(`what had no label comes back without one: ${name}`, async () => {
    const { inner, files } = opened(false);
    const kept = memory({});
    const noted = (one) => withHistory(one, { keepIn: { backend: kept }, writeMode: "overwrite" });
    await put(noted(files), SUMMARY, TEXT);
    const path = (await back({ inner, kept, noted, tainted: files, fresh: files })) ?? SUMMARY;
    assert.deepEqual(await files.labels(path), { labels: [] });
  });
}

test("a flow judges what comes back: an undo into a protected file is asked about", async () => {
  const asked = [];
  const { inner, tainted, fresh } = await stack({
    flows: [{ from: "untrusted", to: ["/memories/**"], then: "ask" }],
    onAsk: (question) => asked.push(question) === 1,
  });
  must(await tainted.write("/memories/new.md", TEXT));
  const receipt = await committed(fresh, (turn) => turn.delete("/memories/new.md"));
  const again = await undo(fresh.conversation(), receipt);
  assert.equal(again.code, "permission_denied");
  assert.deepEqual(
    asked.map(({ path }) => path),
    ["/memories/new.md", "/memories/new.md"],
  );
  assert.equal(inner.read("/memories/new.md").code, "not_found");
});

test("labels of contents are kept in the file of labels, and a person can trust them", async () => {
  const place = { backend: memory({}), path: "/l.tsv" };
  const { inner, fresh } = await stack({ keepIn: place });
  must(await fresh.delete(SUMMARY));
  const restarted = () => withProvenance(inner, rules(true, { keepIn: place }));
  must(await restarted().write("/work/again.md", TEXT));
  assert.deepEqual(await restarted().labels("/work/again.md"), { labels: ["untrusted"] });
  must(await restarted().trust("/work"));
  must(await restarted().delete("/work/again.md"));
  must(await restarted().write("/work/again.md", TEXT));
  assert.deepEqual(await restarted().labels("/work/again.md"), { labels: [] });
});

/** The files of a pin. */
const pinned = async (world, pin) => must(await openPin(world, pin)).backend;

/** Shows the text of earlier moments to a conversation. `history` is over it. */
const SHOWN = {
  "diff of a history": async (world, { since }) => must(await world.diff(since)),
  "diff between two moments": async (world, { since }) =>
    must(await world.diff(new Date(0), since)),
  "the tool diff": async (world, { others }) => {
    const tools = createFileTools(world, { changes: changeTools() });
    must(await tools.call("diff", {}));
    must(await others.write("/work/other.md", TEXT));
    must(await others.write("/work/third.md", "third\n"));
    must(await tools.call("diff", { path: "/work/third.md" }));
  },
  "read of a pin": async (world, { pin }) => must(await (await pinned(world, pin)).read(SUMMARY)),
  "readRaw of a pin": async (world, { pin }) =>
    must(await (await pinned(world, pin)).readRaw(SUMMARY)),
  "download from a pin": async (world, { pin }) =>
    must(await (await pinned(world, pin)).downloadFiles([SUMMARY])),
  "grep of a pin": async (world, { pin }) => must(await (await pinned(world, pin)).grep(PLANT)),
  "the tools over a pin": async (world, { pin }) =>
    must(await createFileTools(await pinned(world, pin)).call("read_file", { file_path: SUMMARY })),
  "a page of a pin, which is labelled by its path": async (world, { pin }) =>
    must(await (await pinned(world, pin)).read(PAGE, 1, 1)),
  "an archive of a pin": async (world, { pin }) =>
    void (await new Response(toTar(await pinned(world, pin))).arrayBuffer()),
  "a copy of a pin": async (world, { pin }) =>
    must(await copyTree(await pinned(world, pin), memory({}))),
  "a shell over a pin": async (world, { pin }) =>
    must(await withBash(await pinned(world, pin)).execute(`cat ${SUMMARY}`)),
};
/** What can be between the history and the conversation. */
const BETWEEN = {
  nothing: (files) => files,
  "a policy": (files) => withPolicy(files, { audit: () => {} }),
  "a router": (files) => new CompositeBackend(files, { "/mount/": memory({}) }),
};

for (const [name, show] of Object.entries(SHOWN)) {
  for (const [between, around] of Object.entries(BETWEEN)) {
    test(`a conversation is tainted by ${name}, with ${between} between`, async () => {
      const { kept, tainted, fresh, noted } = await stack();
      const { pin } = must(await noted(tainted).pin());
      const { entries } = await noted(tainted).log(SUMMARY);
      must(await noted(tainted).delete(SUMMARY));
      const world = withHistory(around(fresh), { keepIn: { backend: kept } });
      await show(world, { pin, since: entries[0].id, others: noted(tainted) });
      assert.equal(fresh.reads[0]?.label, "untrusted");
      must(await fresh.write("/work/after.md", "x\n"));
      assert.deepEqual(await fresh.labels("/work/after.md"), { labels: ["untrusted"] });
    });
  }
}

test("names, and contents without a label, of earlier moments do not taint", async () => {
  const { fresh, tainted, noted } = await stack();
  const { pin } = must(await noted(tainted).pin());
  const world = noted(fresh);
  must(await world.log("/"));
  const then = await pinned(world, pin);
  must(await then.ls("/work"));
  must(await then.glob("**"));
  must(await then.read("/work/todo.md"));
  must(await then.grep("milk"));
  must(await world.write("/work/own.md", "own\n"));
  const { entries } = await world.log("/work/own.md");
  must(await world.edit("/work/own.md", "own", "mine"));
  must(await world.diff(entries[0].id));
  assert.deepEqual(fresh.reads, []);
});

/** Goes on with a turn that a tainted conversation has kept. */
const RESUMED = {
  "commit at once": (turn) => turn.commit(),
  "read, then commit": async (turn) => {
    must(await turn.read(SUMMARY));
    return turn.commit();
  },
  "diff, then commit": async (turn) => {
    must(await turn.diff());
    return turn.commit();
  },
  "a move in the turn, then commit": async (turn) => {
    must(await turn.move(SUMMARY, "/work/moved.md"));
    return turn.commit();
  },
  "rebase, then commit": async (turn) => {
    must(await turn.rebase());
    return turn.commit();
  },
};
for (const [name, go] of Object.entries(RESUMED)) {
  test(`a turn that a tainted conversation kept carries its label: ${name}`, async () => {
    const { inner, files } = opened();
    const keepIn = memory({});
    must(await files.read(PAGE));
    must(await beginKept(files, { keepIn: { backend: keepIn }, name: "t" }).write(SUMMARY, TEXT));
    const fresh = files.conversation();
    done(await go(beginKept(fresh, { keepIn: { backend: keepIn }, name: "t" })));
    const path = inner.read(SUMMARY).error ? "/work/moved.md" : SUMMARY;
    assert.deepEqual(await files.labels(path), { labels: ["untrusted"] });
    assert.equal(fresh.reads[0]?.label, "untrusted");
    // It is committed, and the name is free for others.
    assert.deepEqual((await keptTurns({ backend: keepIn })).names ?? [], []);
    const next = files.conversation();
    must(await beginKept(next, { keepIn: { backend: keepIn }, name: "t" }).read("/work/todo.md"));
    assert.deepEqual(next.reads, []);
  });

  test(`without a label a kept turn has none: ${name}`, async () => {
    const { inner, files } = opened();
    const keepIn = memory({});
    must(await beginKept(files, { keepIn: { backend: keepIn }, name: "t" }).write(SUMMARY, TEXT));
    const fresh = files.conversation();
    done(await go(beginKept(fresh, { keepIn: { backend: keepIn }, name: "t" })));
    const path = inner.read(SUMMARY).error ? "/work/moved.md" : SUMMARY;
    assert.deepEqual([await files.labels(path), fresh.reads], [{ labels: [] }, []]);
  });
}

test("a kept turn goes into a protected file only after a question, in another process too", async () => {
  const place = { backend: memory({}) };
  const inner = memory();
  const started = () => withProvenance(inner, rules(true, { keepIn: place }));
  const keepIn = memory({});
  const first = started();
  must(await first.read(PAGE));
  must(
    await beginKept(first, { keepIn: { backend: keepIn }, name: "t" }).write(
      "/memories/new.md",
      TEXT,
    ),
  );
  const { code, error } = await beginKept(started(), {
    keepIn: { backend: keepIn },
    name: "t",
  }).commit();
  assert.deepEqual([code, /untrusted/.test(error)], ["permission_denied", true]);
  assert.equal(inner.read("/memories/new.md").code, "not_found");
});

// A text with the FNV-1a hash 0, which a zero byte does not change: the versions of files were such
// hashes once, and who wrote a text with the hash of another one left no trace.
const ZERO = "d56bb95342870836";

const fast = (content) => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of content) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash;
};

/** How many zero bytes the clean text has behind that, and how many the one that a command writes. */
const ZEROS = [
  [0, 1],
  [0, 2],
  [0, 7],
  [0, 64],
  [0, 1_000],
  [1, 0],
  [3, 1],
  [5, 6],
  [64, 0],
  [8, 16],
];
for (const [before, after] of ZEROS) {
  test(`a command that writes a text with the same fast hash is seen (${before}, ${after})`, async () => {
    const root = mkdtempSync(join(tmpdir(), "kitbag-provenance-"));
    try {
      const inner = new LocalShellBackend({ rootDir: root, virtualMode: true });
      const start = Buffer.from(ZERO, "hex");
      const withZeros = (zeros) =>
        new Uint8Array([...start, ...new Uint8Array(zeros), ...bytes("text\n")]);
      const clean = withZeros(before);
      must(
        await inner.uploadFiles([
          ["/memo.bin", clean],
          [PAGE, bytes(PLANT)],
        ]),
      );
      const files = withProvenance(inner, { labels: rules().labels });
      const octal = [...start].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
      const zeros = `head -c ${after} /dev/zero`;
      must(await files.execute(`{ printf '${octal}'; ${zeros}; echo text; } > memo.bin`));
      const [{ content }] = await inner.downloadFiles(["/memo.bin"]);
      assert.deepEqual(content, withZeros(after));
      assert.equal(fast(content), fast(clean));
      assert.deepEqual(await files.labels("/memo.bin"), { labels: ["untrusted"] });
    } finally {
      rmSync(root, { recursive: true });
    }
  });
}
