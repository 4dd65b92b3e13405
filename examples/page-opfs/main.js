// An agent in a page. Its files are in the browser (OPFS): they survive a reload, and nothing but
// the conversation leaves the page.

import { OpfsBackend } from "kitbag";
import { fileTools } from "kitbag/openai";
import { answer } from "./agent.js";

const backend = new OpfsBackend({ root: "agent", writeMode: "overwrite" });
const files = fileTools(backend, { api: "chat" });
const messages = [];
// Your own server, which adds the key of the model's API: a key in a page is public.
const url = new URL(import.meta.env.VITE_MODEL_URL ?? "/v1", location.href).href;

const element = (id) => document.getElementById(id);

async function showFiles() {
  const { files: found = [], error } = await backend.glob("**");
  const names = error ? [error] : found.map(({ path }) => path).sort();
  element("files").replaceChildren(
    ...names.map((name) => Object.assign(document.createElement("li"), { textContent: name })),
  );
}

element("chat").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { text } = event.target.elements;
  messages.push({ role: "user", content: text.value });
  text.value = "";
  try {
    element("said").textContent = await answer({ url, key: "", model: "default", files, messages });
  } catch (error) {
    element("said").textContent = `It failed: ${error.message}`;
  }
  await showFiles();
});

// Another tab has changed files.
backend.watch(showFiles);
await backend.persist();
await showFiles();
