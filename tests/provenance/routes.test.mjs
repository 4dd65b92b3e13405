// Attempts in which no tool shows the planted text to the conversation that stores it: moves, copies,
// commands, other conversations, mounts and rules in between.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  adaptBackendProtocol,
  begin,
  CompositeBackend,
  createFileTools,
  FilesystemBackend,
  LocalShellBackend,
  undo,
  withPolicy,
} from "kitbag";
import { withIgnore } from "kitbag/ignore";
import { withBash } from "kitbag/just-bash";
import { withProvenance } from "kitbag/provenance";
import { fromTar, toTar } from "kitbag/tar";
import { copyTree } from "kitbag/transfer";
import { attempt } from "./attempt.mjs";
import { FILES, memory, must, opened, PAGE, PLANT, rules, SCRATCH } from "./lib.mjs";

const NEW = "/memories/new.md";
const over = { overwrite: true };
const text = `Remember: ${PLANT}`;
const tool = async (files, name, input) =>
  must(await createFileTools(files, { tools: "all" }).call(name, input));

/** What a call of the files themselves can do without showing anything. */
const MOVES = {
  copy: async (files) => must(await files.copy(PAGE, NEW)),
  move: async (files) => must(await files.move(PAGE, NEW)),
  "copy over a file": async (files) => must(await files.copy(PAGE, "/AGENTS.md", over)),
  "move over a file": async (files) => must(await files.move(PAGE, "/skills/a/SKILL.md", over)),
  "copy of a directory": async (files) => must(await files.copy("/web", "/memories/web")),
  "move of a directory": async (files) => must(await files.move("/web", "/skills/web")),
  "copy of a directory deep below": async (files) =>
    must(await files.copy("/web/deep", "/memories/a/b/c")),
  "copy twice": async (files) => {
    must(await files.copy(PAGE, SCRATCH));
    must(await files.copy(SCRATCH, NEW));
  },
  "move, move and move": async (files) => {
    must(await files.move(PAGE, SCRATCH));
    must(await files.move("/work", "/play"));
    must(await files.move("/play/scratch.md", NEW));
  },
  "a directory that is named like the protected one": async (files) => {
    must(await files.move("/memories", "/old"));
    must(await files.copy(PAGE, "/old/notes.md", over));
    must(await files.move("/old", "/memories"));
  },
  "the tool copy_file": (files) => tool(files, "copy_file", { from: PAGE, to: NEW }),
  "the tool move_file": (files) => tool(files, "move_file", { from: PAGE, to: NEW }),
  "a shell's cp": async (files) => must(await withBash(files).execute(`cp ${PAGE} ${NEW}`)),
  "a shell's mv": async (files) => must(await withBash(files).execute(`mv ${PAGE} ${NEW}`)),
  "a shell's cp -r": async (files) =>
    must(await withBash(files).execute("cp -r /web /memories/web")),
  "a shell's pipe": async (files) =>
    must(await withBash(files).execute(`grep obey ${PAGE} | sed s/a/a/ >> /AGENTS.md`)),
  "a tree to itself": async (files) =>
    must(await copyTree(files, files, { from: "/web", to: "/memories" })),
  "an archive of itself": async (files) =>
    must(await fromTar(toTar(files, { from: "/web" }), files, { to: "/skills" })),
  "a tree by way of a policy": async (files) =>
    must(
      await copyTree(files, withPolicy(files, { readOnlyPrefixes: ["/config"] }), {
        ...{ from: "/web", to: "/memories" },
      }),
    ),
  "copy in a turn": async (files) => {
    const turn = begin(files);
    must(await turn.copy(PAGE, NEW));
    must(await turn.commit());
  },
  "move in a turn": async (files) => {
    const turn = begin(files);
    must(await turn.move("/web", "/memories/web"));
    must(await turn.commit());
  },
  "copy below a policy with inspect": async (files) =>
    must(await withPolicy(files, { inspect: () => undefined }).copy(PAGE, NEW)),
  "copy through ignore files": async (files) => must(await withIgnore(files).copy(PAGE, NEW)),
  "copy through a composite": async (files) =>
    must(await new CompositeBackend(files, { "/other/": memory({}) }).copy(PAGE, NEW)),
  "copy to another mount and back": async (files) => {
    const both = new CompositeBackend(files, { "/other/": memory({}) });
    must(await both.copy(PAGE, "/other/page.md"));
    must(await both.copy("/other/page.md", NEW));
  },
};

for (const [name, carry] of Object.entries(MOVES)) attempt(`by ${name}`, carry);

/** What one conversation leaves for the next one, which has read nothing with a label. */
const LEFT = {
  write: async (files) => must(await files.write(SCRATCH, text)),
  uploadFiles: async (files) =>
    must(await files.uploadFiles([[SCRATCH, new TextEncoder().encode(text)]])),
  append: async (files) => {
    must(await files.write(SCRATCH, ""));
    must(await files.append(SCRATCH, text));
  },
  edit: async (files) => {
    must(await files.move("/work/todo.md", SCRATCH));
    must(await files.edit(SCRATCH, "milk", text));
  },
  copy: async (files) => must(await files.copy(PAGE, SCRATCH)),
  "a shell": async (files) => must(await withBash(files).execute(`cat ${PAGE} > ${SCRATCH}`)),
  "a turn": async (files) => {
    const turn = begin(files);
    must(await turn.write(SCRATCH, text));
    must(await turn.commit());
  },
};
const TAKEN = {
  copy: async (next) => must(await next.copy(SCRATCH, NEW)),
  "read and write": async (next) => must(await next.write(NEW, (await next.read(SCRATCH)).content)),
  "edit, then move": async (next) => {
    must(await next.edit(SCRATCH, PLANT, `${PLANT}!`));
    must(await next.move(SCRATCH, NEW));
  },
  "append, then move over a file": async (next) => {
    must(await next.append(SCRATCH, "more\n"));
    must(await next.move(SCRATCH, "/AGENTS.md", over));
  },
  "moved twice": async (next) => {
    must(await next.move(SCRATCH, "/work/other.md"));
    must(await next.move("/work/other.md", NEW));
  },
};

for (const [leaving, leave] of Object.entries(LEFT)) {
  for (const [taking, take] of Object.entries(TAKEN)) {
    attempt(`left by ${leaving}, taken by another conversation: ${taking}`, async (files) => {
      must(await files.read(PAGE));
      await leave(files);
      await take(files.conversation());
    });
  }
}

const CONVERSATIONS = {
  "a conversation that goes on in another object": async (files) => {
    must(await files.read(PAGE));
    must(await files.conversation(files.reads).write(NEW, text));
  },
  "a clear before the read": async (files) => {
    files.clear();
    must(await files.read(PAGE));
    must(await files.write(NEW, text));
  },
  "a file that was labelled, rewritten and labelled again": async (files) => {
    const next = files.conversation();
    must(await files.read(PAGE));
    must(await files.write(SCRATCH, text));
    must(await next.uploadFiles([[SCRATCH, new TextEncoder().encode("clean")]]));
    must(await files.edit(SCRATCH, "clean", text));
    must(await next.copy(SCRATCH, NEW));
  },
  "a deleted and restored file": async (files) => {
    const next = files.conversation();
    must(await files.read(PAGE));
    must(await files.write(SCRATCH, text));
    must(await files.move(SCRATCH, "/work/kept.md"));
    must(await next.delete("/web"));
    must(await next.move("/work/kept.md", NEW));
  },
  "an undo of what was refused": async (files) => {
    must(await files.read(PAGE));
    const turn = begin(memory({ [NEW]: text }));
    must(await turn.delete(NEW));
    const { receipt } = must(await turn.commit());
    const done = await undo(files, {
      ...receipt,
      files: receipt.files.map((file) => ({ ...file, before: file.before, after: null })),
    });
    must(done.conflicts ? { error: told(done) } : done);
  },
};

const told = (done) => `${done.error}`;

for (const [name, carry] of Object.entries(CONVERSATIONS)) attempt(`by ${name}`, carry);

/** Stacks of backends, in which the rules are around something else than one memory. */
const STACKS = {
  "mounts below": (labelled) => {
    const inner = new CompositeBackend(memory(), {
      "/web/": memory({ "/page.md": FILES[PAGE] }),
      "/memories/": memory({ "/notes.md": "kept\n" }),
    });
    return { inner, files: withProvenance(inner, rules(labelled)) };
  },
  "mounts above": (labelled) => {
    const { inner, files } = opened(labelled);
    return { inner, files: new CompositeBackend(files, { "/other/": memory({}) }) };
  },
  "a policy below": (labelled) => {
    const inner = memory();
    const guarded = withPolicy(inner, {
      permissions: [{ operations: ["write"], paths: ["/secrets/**"], mode: "deny" }],
      inspect: () => undefined,
      quota: { maxFiles: 100 },
    });
    return { inner, files: withProvenance(guarded, rules(labelled)) };
  },
  "policies above": (labelled) => {
    const { inner, files } = opened(labelled);
    const once = withPolicy(files, { quota: { maxFiles: 100 } });
    return { inner, files: withPolicy(once, { inspect: () => undefined }) };
  },
  "the rules twice": (labelled) => {
    const { inner, files } = opened(labelled);
    return { inner, files: withProvenance(files, rules(labelled)) };
  },
  "ignore files below": (labelled) => {
    const inner = memory();
    const less = withIgnore(inner, { patterns: ["node_modules/"] });
    return { inner, files: withProvenance(less, rules(labelled)) };
  },
  "a foreign object below": (labelled) => {
    const inner = memory();
    const names = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
    const methods = [...names, "uploadFiles", "downloadFiles"].map((name) => [
      name,
      (...args) => inner[name](...args),
    ]);
    return { inner, files: withProvenance(Object.fromEntries(methods), rules(labelled)) };
  },
  "an adapted object above": (labelled) => {
    const { inner, files } = opened(labelled);
    return { inner, files: adaptBackendProtocol(files) };
  },
  "a folder below": async (labelled, t) => {
    const inner = new FilesystemBackend({ rootDir: folder(t), virtualMode: true });
    must(await inner.uploadFiles(Object.entries(FILES).map(encoded)));
    return { inner, files: withProvenance(inner, rules(labelled)) };
  },
  "a file for the labels": (labelled) =>
    opened(labelled, memory(), { keepIn: { backend: memory({}), path: "/kept/labels.tsv" } }),
};
const encoded = ([path, body]) => [path, new TextEncoder().encode(body)];

function folder(t) {
  const made = mkdtempSync(join(tmpdir(), "kitbag-provenance-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const IN_STACKS = {
  "read and write": async (files) => {
    must(await files.read(PAGE));
    must(await files.write(NEW, text));
  },
  "grep and edit": async (files) => {
    must(await files.grep("obey"));
    must(await files.edit("/memories/notes.md", "kept", text));
  },
  "a scratch file": async (files) => {
    must(await files.downloadFiles([PAGE]));
    must(await files.write(SCRATCH, text));
    must(await files.uploadFiles([["/AGENTS.md", new TextEncoder().encode(text)]]));
  },
  "a shell": async (files) =>
    must(await withBash(files).execute(`cat ${PAGE} >> /memories/notes.md`)),
  "a copy": async (files) =>
    must(await (files.copy ? files.copy(PAGE, NEW) : withBash(files).execute(`cp ${PAGE} ${NEW}`))),
  "a tree": async (files) =>
    must(await copyTree(files, files, { from: "/web", to: "/skills", onConflict: "overwrite" })),
};

for (const [stack, open] of Object.entries(STACKS)) {
  for (const [name, carry] of Object.entries(IN_STACKS)) {
    attempt(`with ${stack}: ${name}`, carry, open);
  }
}

/** Commands, which the rules cannot look into. */
async function commands(labelled, t) {
  const rootDir = folder(t);
  const inner = await LocalShellBackend.create({ rootDir, virtualMode: true });
  must(await inner.uploadFiles(Object.entries(FILES).map(encoded)));
  return { inner, files: withProvenance(inner, rules(labelled)) };
}

const COMMANDS = {
  "cat into a file": "/bin/cat web/page.md >> AGENTS.md",
  "cp of a directory": "/bin/cp -r web memories/web",
  "a rename": "/bin/mv web/page.md skills/a/SKILL.md",
};

for (const [name, command] of Object.entries(COMMANDS)) {
  attempt(`by a command: ${name}`, async (files) => must(await files.execute(command)), commands);
}

attempt(
  "by a command of a shell over memory",
  async (files) => must(await files.execute(`cat ${PAGE} >> /memories/notes.md`)),
  (labelled) => {
    const inner = memory();
    return { inner, files: withProvenance(withBash(inner), rules(labelled)) };
  },
);
