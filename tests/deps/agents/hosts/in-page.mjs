// What the tests run in Chromium: every driver with IndexedDB mounted at `/notes/`, and the shell
// over IndexedDB alone.

import { IndexedDbBackend } from "kitbag";
import { drivers } from "../drivers/index.mjs";
import { perform } from "./perform.mjs";

globalThis.play = (name) =>
  perform(name, drivers, () => new IndexedDbBackend({ database: "tools", namespace: name }));
globalThis.ready = true;
