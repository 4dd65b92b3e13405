// The playground: one StateBackend, asked by hand. Every button is one call; `ask` makes it,
// times it, and shows it with its answer.

import { StateBackend } from "kitbag";
import { sample } from "./sample.js";

const backend = new StateBackend({ files: sample });
const find = (id) => document.getElementById(id);
const PAGE = 200;

let directory = "/";
let shown;

/** An element with properties and children. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function short(value) {
  const text = JSON.stringify(value, (_, inner) =>
    inner instanceof Uint8Array ? `Uint8Array(${inner.length})` : inner,
  );
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Calls the backend and shows the call. */
function ask(method, ...args) {
  const began = performance.now();
  const answer = backend[method](...args);
  const milliseconds = performance.now() - began;
  const given = args.map((arg) => (arg === undefined ? "undefined" : short(arg))).join(", ");
  find("log").prepend(
    element(
      "li",
      {},
      element("time", { textContent: `${milliseconds.toFixed(2)} ms` }),
      element("span", { textContent: `${method}(${given})`, title: given }),
      element("span", {
        textContent: answer.error ?? short(answer),
        className: answer.error ? "bad" : "",
      }),
    ),
  );
  return answer;
}

function list(path) {
  directory = path;
  const names = path.split("/").filter(Boolean);
  const crumb = (text, to) =>
    element("button", {
      type: "button",
      className: "link",
      textContent: text,
      onclick: () => list(to),
    });
  const crumbs = names.map((name, at) => crumb(`${name}/`, `/${names.slice(0, at + 1).join("/")}`));
  find("crumbs").replaceChildren(crumb("/", "/"), ...crumbs);
  const { files = [] } = ask("ls", path);
  find("listing").replaceChildren(...files.map(entry));
  if (files.length === 0) {
    find("listing").append(element("li", { className: "quiet", textContent: "Nothing here." }));
  }
}

function entry({ path, is_dir, size }) {
  const name = path.replace(/\/$/, "").split("/").at(-1);
  const button = element(
    "button",
    { type: "button", onclick: () => (is_dir ? list(path) : open(path)) },
    element("span", { textContent: is_dir ? `${name}/` : name }),
    element("small", { textContent: is_dir ? "" : `${size} B` }),
  );
  if (path === shown) button.setAttribute("aria-current", "true");
  return element("li", {}, button);
}

function open(path, offset = 0) {
  const page = ask("read", path, offset, PAGE);
  find("file-title").textContent = path;
  const content = find("content");
  if (page.error) {
    shown = undefined;
    find("position").textContent = page.error;
    content.replaceChildren();
    find("pager").hidden = true;
    return;
  }
  shown = path;
  const { startLine, endLine, totalLines, mimeType, nextOffset } = page;
  const where = totalLines === undefined ? "" : `, lines ${startLine}–${endLine} of ${totalLines}`;
  find("position").textContent = `${mimeType}${where}`;
  content.style.setProperty("--before", String(offset));
  if (typeof page.content === "string") {
    const lines = page.content.replace(/\n$/, "").split("\n");
    content.replaceChildren(...lines.map((text) => element("span", { textContent: text })));
  } else {
    content.replaceChildren(element("span", { textContent: `${page.content.length} bytes` }));
  }
  find("pager").hidden = false;
  find("next").hidden = nextOffset === undefined;
  find("next").onclick = () => open(path, nextOffset);
  find("remove").onclick = () => {
    ask("delete", path);
    open(path);
    list(directory);
  };
}

/** Runs `work` with a form's fields when it is submitted. */
function onSubmit(id, work) {
  find(id).addEventListener("submit", (event) => {
    event.preventDefault();
    work(Object.fromEntries(new FormData(event.target)), event.target);
  });
}

onSubmit("create", ({ path, content }, form) => {
  const answer = ask("write", path, content);
  if (answer.error) return;
  form.reset();
  list(answer.path.slice(0, answer.path.lastIndexOf("/")) || "/");
  open(answer.path);
});

onSubmit("edit", ({ before, after, all }) => {
  if (!shown) return;
  const answer = ask("edit", shown, before, after, all === "on");
  if (answer.error) return;
  open(shown);
  list(directory);
});

onSubmit("grep", ({ pattern, glob, regex, ignoreCase }) => {
  const options = { regex: regex === "on", ignoreCase: ignoreCase === "on" };
  const { matches, truncated, error } = ask("grep", pattern, "/", glob || null, 200, options);
  const files = new Set(matches?.map((match) => match.path)).size;
  const more = truncated ? "; there are more" : "";
  report(
    error ?? `${counted(matches.length, "match", "matches")} in ${counted(files, "file")}${more}`,
  );
  find("found").replaceChildren(
    ...(matches ?? []).map(({ path, line, text }) =>
      hit(`${path}:${line}`, marked(text, regex ? undefined : pattern), () =>
        open(path, Math.floor((line - 1) / PAGE) * PAGE),
      ),
    ),
  );
});

onSubmit("glob", ({ pattern }) => {
  const { files, error } = ask("glob", pattern);
  report(error ?? counted(files.length, "file"));
  find("found").replaceChildren(
    ...(files ?? []).map(({ path, size }) => hit(`${size} B`, [path], () => open(path))),
  );
});

function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

function report(text) {
  find("count").textContent = text;
}

function hit(where, text, onclick) {
  const button = element("button", { type: "button", onclick });
  button.append(element("small", { textContent: where }), ...text);
  return element("li", {}, button);
}

/** A line's text with the pattern marked in it. */
function marked(text, pattern) {
  const line = text.trim();
  const at = pattern ? line.indexOf(pattern) : -1;
  if (at < 0) return [line];
  const end = at + pattern.length;
  return [line.slice(0, at), element("mark", { textContent: pattern }), line.slice(end)];
}

list("/");
open("/README.md");
