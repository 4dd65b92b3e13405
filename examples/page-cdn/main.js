// Notes that stay in the browser's database. The page has no build: its import map says where kitbag is.

import { IndexedDbBackend, StateBackend } from "kitbag";
import { copyTree } from "kitbag/transfer";

const files = new IndexedDbBackend({ database: "notes", writeMode: "overwrite" });
const element = (id) => document.getElementById(id);

/** Lists the notes, or the lines that contain what is searched. */
async function show() {
  const wanted = element("search").value;
  const {
    matches = [],
    files: all = [],
    error,
  } = wanted ? await files.grep(wanted) : await files.glob("**");
  const lines = wanted
    ? matches.map(({ path, line, text }) => `${path}:${line} ${text}`)
    : all.map(({ path }) => path).sort();
  element("failed").textContent = error ?? "";
  element("found").replaceChildren(
    ...lines.map((textContent) => Object.assign(document.createElement("li"), { textContent })),
  );
}

element("note").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { name, text } = event.target.elements;
  const { error } = await files.write(`/${name.value}.md`, text.value);
  if (error) element("failed").textContent = error;
  else await show();
});
element("search").addEventListener("input", show);

// Another tab has changed a note.
files.watch(show);

// On the first visit there is one note.
const { files: kept = [] } = await files.ls("/");
const samples = new StateBackend({ files: { "/welcome.md": "Notes stay in this browser.\n" } });
if (kept.length === 0) await copyTree(samples, files);
await show();
