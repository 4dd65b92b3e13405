// What the tests run in Chromium: every driver with IndexedDB mounted at `/notes/`, and the shell
// over IndexedDB alone.

import { IndexedDbBackend } from "kitbag";
import { drivers } from "../drivers/index.mjs";
import { run } from "../drivers/run.mjs";
import { shell } from "./shell.mjs";

globalThis.play = (namespace) => {
  const open = () => new IndexedDbBackend({ database: "tools", namespace });
  return namespace === "shell" ? shell(open) : run(drivers[namespace], open());
};
globalThis.ready = true;
