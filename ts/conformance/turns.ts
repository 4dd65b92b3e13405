// Turns over a backend: nothing changes before the commit, a commit is all or nothing, and what others
// have changed is a conflict. Run only if `options.turns` has kitbag's functions.

import type { BackendProtocolV2 } from "../types.js";
import {
  type Case,
  holds,
  type TurnOutcome as Outcome,
  type Promised,
  type Subject,
  same,
  type TurnLike,
  type Turns,
  uploads,
  utf8,
} from "./subject.js";

const needs = (promised: Promised) => uploads(promised) && promised.deletes;

/** The subject of a case, with a turn over its backend. */
class Under {
  readonly it: Subject;
  readonly #turns: Turns;

  constructor(it: Subject) {
    if (!it.turns) throw new Error("this case needs options.turns");
    this.it = it;
    this.#turns = it.turns;
  }

  begin(backend: BackendProtocolV2 = this.it.backend): TurnLike {
    return this.#turns.begin(backend as never, { by: "conformance" });
  }

  undo(receipt: unknown): Promise<Outcome> {
    return this.#turns.undo(this.it.backend as never, receipt as never);
  }

  async put(backend: BackendProtocolV2, path: string, text: string): Promise<void> {
    const [answer] = (await backend.uploadFiles?.([[path, utf8(text)]])) ?? [];
    holds(`${path} is stored`, answer?.error == null, answer);
  }

  /** The text of a file; `null` if there is none. */
  async text(path: string, backend: BackendProtocolV2 = this.it.backend): Promise<string | null> {
    const [answer] = (await backend.downloadFiles?.([path])) ?? [];
    return answer?.content ? new TextDecoder().decode(answer.content) : null;
  }

  async done(what: string, outcome: Promise<Outcome>): Promise<unknown> {
    const { error, receipt } = await outcome;
    holds(`${what} must succeed`, error === undefined && receipt !== undefined, error);
    return receipt;
  }

  async conflict(what: string, outcome: Promise<Outcome>, path: string): Promise<void> {
    const { code, conflicts } = await outcome;
    same(`code of ${what}`, code, "conflict");
    const paths = conflicts?.map((one) => one.path);
    holds(`${what} names ${path}`, paths?.includes(path) === true, conflicts);
  }
}

function about(name: string, run: (under: Under) => Promise<void>): Case {
  return { name, needs, run: (it) => run(new Under(it)) };
}

/** Commits changes that store no bytes, or whose undo stores none, and undoes each. */
async function withoutBytes(under: Under, variants: Array<[string, string[]]>): Promise<void> {
  const { backend } = under.it;
  for (const [at, [what, changes]] of variants.entries()) {
    const dir = `/v${at}`;
    const before = { full: "text\n", "deep/full": "text\n", empty: "" };
    for (const [name, text] of Object.entries(before))
      await under.put(backend, `${dir}/${name}`, text);
    const turn = under.begin();
    const after: Record<string, string | null> = { ...before };
    for (const change of changes) {
      const [kind, path] = [change[0], `${dir}/${change.slice(1)}`];
      const text = kind === "-" ? null : kind === "=" ? "new\n" : "";
      after[change.slice(1)] = text;
      const answer =
        text === null
          ? await turn.delete?.(path)
          : kind === "!"
            ? await turn.edit(path, "text\n", "")
            : await turn.write(path, text);
      same(`${what}: the error of ${change}`, answer?.error, undefined);
    }
    const receipt = await under.done(`the commit of ${what}`, turn.commit());
    for (const [name, text] of Object.entries(after)) {
      same(`${what}: ${name}`, await under.text(`${dir}/${name}`), text);
    }
    await under.done(`the undo of ${what}`, under.undo(receipt));
    for (const name of Object.keys(after)) {
      const text = (before as Record<string, string>)[name] ?? null;
      same(`${what}, undone: ${name}`, await under.text(`${dir}/${name}`), text);
    }
  }
}

const FIVE = "1\n2\n3\n4\n5\n";

export const turns: Case[] = [
  about("a turn shows its changes, and nothing changes before its commit", async (under) => {
    const { backend } = under.it;
    await under.put(backend, "/old.txt", "needle old\n");
    await under.put(backend, "/dir/gone.txt", "needle gone\n");
    const turn = under.begin();
    same("the edit's error", (await turn.edit("/old.txt", "old", "new")).error, undefined);
    same("the delete's error", (await turn.delete?.("/dir"))?.error, undefined);
    same("the write's error", (await turn.write("/more.txt", "needle more\n")).error, undefined);
    const found = await turn.grep("needle", "/");
    const seen = found.matches?.map(({ path, text }) => `${path}:${text}`);
    same("grep in the turn", seen, ["/more.txt:needle more", "/old.txt:needle new"]);
    const globbed = await turn.glob("**");
    same("glob in the turn", globbed.files?.map(({ path }) => path).sort(), [
      "/more.txt",
      "/old.txt",
    ]);
    same("the file below", await under.text("/old.txt"), "needle old\n");
    same("the deleted file below", await under.text("/dir/gone.txt"), "needle gone\n");
    same("the new file below", await under.text("/more.txt"), null);
  }),
  about("a commit makes all changes, and undo takes them back", async (under) => {
    const { backend } = under.it;
    await under.put(backend, "/a.txt", "one\n");
    await under.put(backend, "/b/b.txt", "two\n");
    const turn = under.begin();
    await turn.edit("/a.txt", "one", "1");
    await turn.delete?.("/b/b.txt");
    await turn.write("/c.txt", "three\n");
    const receipt = await under.done("the commit", turn.commit());
    same("the edited file", await under.text("/a.txt"), "1\n");
    same("the deleted file", await under.text("/b/b.txt"), null);
    same("the new file", await under.text("/c.txt"), "three\n");
    same("changes left", (await turn.diff()).changes, []);
    await under.done("the undo", under.undo(receipt));
    same("the edited file again", await under.text("/a.txt"), "one\n");
    same("the deleted file again", await under.text("/b/b.txt"), "two\n");
    same("the new file again", await under.text("/c.txt"), null);
    const all = await backend.glob("/.kitbag/**");
    same("journals left", all.files?.length, 0);
  }),
  about("a file that others changed is a conflict, and nothing changes", async (under) => {
    const { backend } = under.it;
    await under.put(backend, "/a.txt", "one\n");
    const turn = under.begin();
    await turn.edit("/a.txt", "one", "1");
    await turn.write("/b.txt", "new\n");
    await under.put(backend, "/a.txt", "other\n");
    await under.conflict("the commit", turn.commit(), "/a.txt");
    same("the file", await under.text("/a.txt"), "other\n");
    same("the other file", await under.text("/b.txt"), null);
  }),
  about("what the turn read is checked, too", async (under) => {
    const { backend } = under.it;
    await under.put(backend, "/read.txt", "one\n");
    const turn = under.begin();
    await turn.read("/read.txt");
    await turn.ls("/");
    await turn.write("/b.txt", "new\n");
    await under.put(backend, "/read.txt", "two\n");
    await under.conflict("the commit", turn.commit(), "/read.txt");
    await turn.rebase();
    await under.put(backend, "/further.txt", "");
    await under.conflict("the second commit", turn.commit(), "/");
    await turn.rebase();
    await under.done("the third commit", turn.commit());
  }),
  about("undo is refused over newer work", async (under) => {
    const turn = under.begin();
    await turn.write("/a.txt", "one\n");
    await turn.write("/b.txt", "one\n");
    const receipt = await under.done("the commit", turn.commit());
    await under.put(under.it.backend, "/a.txt", "newer\n");
    await under.conflict("the undo", under.undo(receipt), "/a.txt");
    same("the other file", await under.text("/b.txt"), "one\n");
  }),
  about("a rebase merges by lines, and lists what it cannot merge", async (under) => {
    const { backend } = under.it;
    await under.put(backend, "/merge.txt", FIVE);
    await under.put(backend, "/gone.txt", FIVE);
    const turn = under.begin();
    await turn.edit("/merge.txt", "1\n", "one\n");
    await turn.edit("/gone.txt", "1\n", "one\n");
    await under.put(backend, "/merge.txt", FIVE.replace("5", "five"));
    await backend.delete?.("/gone.txt");
    const { merged, conflicts } = await turn.rebase();
    same("merged", merged, ["/merge.txt"]);
    same(
      "not merged",
      conflicts?.map(({ path }) => path),
      ["/gone.txt"],
    );
    await turn.discard(["/gone.txt"]);
    await under.done("the commit", turn.commit());
    same("the merged file", await under.text("/merge.txt"), "one\n2\n3\n4\nfive\n");
    same("the deleted file", await under.text("/gone.txt"), null);
  }),
  about("changes can be taken in part", async (under) => {
    const { backend } = under.it;
    await under.put(backend, "/a.txt", FIVE);
    const turn = under.begin();
    await turn.edit("/a.txt", "1\n", "one\n");
    await turn.edit("/a.txt", "5\n", "five\n");
    await turn.write("/drafts/x.txt", "x");
    const { changes } = await turn.diff();
    same(
      "changes",
      changes?.map(({ path, kind, hunks }) => `${kind} ${path} ${hunks.length}`),
      ["changed /a.txt 2", "created /drafts/x.txt 1"],
    );
    same("accept", (await turn.accept([changes?.[0]?.hunks[1]] as never)).error, undefined);
    same("discard", (await turn.discard(["/drafts/**"])).error, undefined);
    await under.done("the commit", turn.commit());
    same("the file", await under.text("/a.txt"), "1\n2\n3\n4\nfive\n");
    same("the draft", await under.text("/drafts/x.txt"), null);
  }),
  ...[
    [
      ["one deletion", ["-full"]],
      ["two deletions", ["-full", "-deep/full"]],
      ["a deletion of an empty file", ["-empty"]],
      ["a deletion and an empty file", ["-full", "+new"]],
      ["a file that becomes empty", ["!full"]],
    ],
    [
      ["one empty file", ["+new"]],
      ["two empty files", ["+new", "+deep/new"]],
      ["an empty file, a deletion and a file that becomes empty", ["+new", "-empty", "!full"]],
      ["a file, whose undo is a deletion", ["=new"]],
      ["two files, whose undo are deletions", ["=new", "=deep/new"]],
    ],
  ].map((variants, at) =>
    about(`a commit of deletions or empty files only can be undone, part ${at + 1}`, (under) =>
      withoutBytes(under, variants as Array<[string, string[]]>),
    ),
  ),
  about("a turn in a turn commits into it", async (under) => {
    const { backend } = under.it;
    await under.put(backend, "/a.txt", "one\n");
    const parent = under.begin();
    const child = under.begin(parent);
    await child.edit("/a.txt", "one", "1");
    await under.done("the inner commit", child.commit());
    same("the file below", await under.text("/a.txt"), "one\n");
    same("the file between", await under.text("/a.txt", parent), "1\n");
    await under.done("the outer commit", parent.commit());
    same("the file", await under.text("/a.txt"), "1\n");
  }),
];
