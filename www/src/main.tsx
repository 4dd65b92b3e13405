// The start: the frame is shown at once; storages, rules and the scripted agent follow.

import { render } from "preact";
import { play } from "./agent/player";
import { App } from "./app";
import { loadRules } from "./rules/policy";
import "./search/keys";
import { loadShell } from "./shell/lazy";
import "./style/base.css";
import "./style/frame.css";
import "./style/stream.css";
import "./style/tree.css";
import { announceChange } from "./tree/changes";
import { files, memories, seedRules } from "./tree/mounts";
import { keepSession, restoreSession, returning } from "./tree/session";
import { ready } from "./ui/ready";

const root = document.getElementById("app");
if (root) render(<App />, root);

async function begin() {
  await restoreSession();
  await seedRules();
  await loadRules();
  memories.watch(announceChange);
  files?.watch(announceChange);
  await keepSession();
  ready.value = true;
  announceChange();
  // A run starts from a fresh project: never by itself where files would be replaced.
  if (!returning.value) void play();
  // The shell is needed soon, and not for the first picture.
  void loadShell();
}

void begin();

if (import.meta.env.PROD && "serviceWorker" in navigator) {
  addEventListener("load", () => {
    void navigator.serviceWorker.register(new URL("sw.js", document.baseURI));
  });
}
