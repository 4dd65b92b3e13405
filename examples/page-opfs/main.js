// An agent in a page. Its files are in the browser (OPFS): they survive a reload, and nothing but
// the conversation leaves the page.

import { OpfsBackend } from "kitbag";
import { makeAgent } from "./agent.js";

const element = (id) => document.getElementById(id);
const backend = new OpfsBackend({ root: "agent", writeMode: "overwrite" });

async function showFiles() {
  const { files: found = [], error } = await backend.glob("**");
  const names = error ? [error] : found.map(({ path }) => path).sort();
  element("files").replaceChildren(
    ...names.map((name) => Object.assign(document.createElement("li"), { textContent: name })),
  );
}

function say(text) {
  element("said").append(text);
}

/** Shows a patch until a person has decided. */
function review(patch) {
  element("patch").textContent = patch;
  element("review").hidden = false;
  return new Promise((resolve) => {
    element("approve").onclick = () => resolve(true);
    element("reject").onclick = () => resolve(false);
  }).finally(() => {
    element("review").hidden = true;
  });
}

const answer = makeAgent({
  backend,
  baseURL: new URL(import.meta.env.VITE_MODEL_URL ?? "/v1", location.href).href,
  model: import.meta.env.VITE_MODEL ?? "default",
  onText: say,
  onCall: (name, { file_path, path = file_path, pattern = "" }) =>
    say(`[${name} ${path ?? pattern}]\n`),
  onReview: review,
});

element("chat").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { text } = event.target.elements;
  const stopping = new AbortController();
  const controls = event.target.querySelector("button");
  element("stop").onclick = () => stopping.abort();
  element("stop").hidden = false;
  controls.disabled = true;
  element("said").textContent = "";
  const message = text.value;
  text.value = "";
  try {
    await answer(message, stopping.signal);
  } catch (error) {
    say(`It failed: ${error.message}`);
  }
  await showFiles();
  controls.disabled = false;
  element("stop").hidden = true;
});

// Another tab has changed files.
backend.watch(showFiles);
await backend.persist();
await showFiles();
