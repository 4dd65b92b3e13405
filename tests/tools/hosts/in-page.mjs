// What the tests run in Chromium: every driver with IndexedDB mounted at `/notes/`, and the shell
// over IndexedDB alone.

import { IndexedDbBackend } from "kitbag";
import { drivers } from "../drivers/index.mjs";
import { perform } from "./perform.mjs";

const place = { database: "tools", openTimeoutMs: 60_000 };

globalThis.play = (name) =>
  perform(name, drivers, () => new IndexedDbBackend({ ...place, namespace: name }));
globalThis.ready = true;
