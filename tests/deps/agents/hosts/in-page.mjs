// What the tests run in Chromium: every driver with IndexedDB mounted at `/notes/`, and the shell
// over IndexedDB alone.

import { IndexedDbBackend } from "kitbag";
import { drivers } from "../drivers/index.mjs";
import { run } from "../drivers/run.mjs";
import { shell } from "./shell.mjs";

const fresh = (namespace) => new IndexedDbBackend({ database: "tools", namespace });

globalThis.play = (name) =>
  name === "shell" ? shell(fresh(name)) : run(drivers[name], fresh(name));
globalThis.ready = true;
