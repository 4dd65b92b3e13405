// A device of the page about syncs: files of its own in this browser, which are synced with those of the bucket
// while it is online. Each browser tab has two of them.

import { signal } from "@preact/signals";
import { IndexedDbBackend } from "kitbag";
import { type SyncResult, sync } from "kitbag/sync";
import { counted } from "../ui/format";

const DATABASE = "kitbag-playground-sync";
/** How long after the last key a text is saved, and how long after that it is synced. */
const SAVES_MS = 250;
const SYNCS_MS = 400;

const store = (namespace: string) =>
  new IndexedDbBackend({ database: DATABASE, namespace, writeMode: "overwrite" });

/** What all devices share; all browser tabs see it. */
export const bucket = store("bucket");

const FIRST = "/plan.md";
const START = {
  [FIRST]: "# Plan\n\n1. Measure\n2. Build\n3. Test\n4. Ship\n",
  "/ideas.md": "# Ideas\n\n- A map\n- A clock\n",
};

type Files = typeof bucket;
export type Choice = "both" | "a" | "b";

/** A file that both sides changed at the same place. */
export interface Conflict {
  path: string;
  mine: string;
  theirs: string;
}

async function textOf(files: Files, path: string): Promise<string | undefined> {
  const { data } = await files.readRaw(path);
  return typeof data?.content === "string" ? data.content : undefined;
}

async function pathsOf(files: Files): Promise<string[]> {
  const { files: all = [] } = await files.glob("**");
  return all.map(({ path }) => path).sort();
}

/** What a run did, in words. */
function words({ changed = [], refused = [], conflicts = [] }: SyncResult): string {
  const merged = new Set(changed.filter(({ what }) => what === "merged").map(({ path }) => path));
  const others = changed.filter(({ path }) => !merged.has(path));
  const of = (side: "a" | "b") => others.filter((change) => change.side === side).length;
  const parts = [
    merged.size > 0 && `merged ${[...merged].join(", ")}`,
    of("b") > 0 && `sent ${counted(of("b"), "change")}`,
    of("a") > 0 && `got ${counted(of("a"), "change")}`,
    conflicts.length > 0 && `${counted(conflicts.length, "conflict")}`,
    refused[0] && `refused: ${refused[0].error}`,
  ];
  return parts.filter(Boolean).join("; ") || "nothing to do";
}

export class Device {
  readonly name: string;
  readonly online = signal(true);
  readonly busy = signal(false);
  readonly paths = signal<string[]>([]);
  /** The file that is shown, and its text as it is typed. */
  readonly shown = signal(FIRST);
  readonly text = signal("");
  /** What was changed since the last run. */
  readonly waiting = signal<ReadonlySet<string>>(new Set());
  readonly conflicts = signal<Conflict[]>([]);
  readonly said = signal("");
  readonly #files: Files;
  readonly #choices = new Map<string, Choice>();
  readonly #changed: (device: Device) => void;
  #saved = "";
  #saving: ReturnType<typeof setTimeout> | undefined;
  #next: ReturnType<typeof setTimeout> | undefined;
  #asked = false;

  constructor(number: number, changed: (device: Device) => void) {
    this.name = `device ${number}`;
    this.#files = store(`device-${number}`);
    this.#changed = changed;
  }

  async #load() {
    const paths = await pathsOf(this.#files);
    this.paths.value = paths;
    // A new device has no files yet, and gets them with its first run.
    if (!paths.includes(this.shown.value)) this.shown.value = paths[0] ?? FIRST;
    const text = await textOf(this.#files, this.shown.value);
    this.text.value = this.#saved = text ?? "";
  }

  /** Shows its files, and syncs. */
  async start() {
    await this.#load();
    await this.sync();
  }

  #wait(path: string) {
    this.waiting.value = new Set([...this.waiting.value, path]);
    this.soon();
  }

  /** Takes what is typed; while a run may bring another text, nothing. Gives what is to be shown. */
  type(text: string): string {
    if (this.busy.value) return this.text.value;
    this.text.value = text;
    clearTimeout(this.#saving);
    clearTimeout(this.#next);
    this.#saving = setTimeout(() => {
      void this.save().then(() => this.soon());
    }, SAVES_MS);
    return text;
  }

  async save() {
    clearTimeout(this.#saving);
    const { value: text } = this.text;
    if (text === this.#saved) return;
    const { value: path } = this.shown;
    const { error } = await this.#files.write(path, text);
    if (error) {
      this.said.value = `not saved: ${error}`;
      return;
    }
    this.#saved = text;
    this.#wait(path);
  }

  async show(path: string) {
    await this.save();
    this.shown.value = path;
    await this.#load();
  }

  async create() {
    await this.save();
    const paths = new Set(this.paths.value);
    let path = `/note of ${this.name}.md`;
    for (let n = 2; paths.has(path); n++) path = `/note ${n} of ${this.name}.md`;
    await this.#files.write(path, "# A note\n");
    this.shown.value = path;
    await this.#load();
    this.#wait(path);
  }

  async remove() {
    const { value: path } = this.shown;
    clearTimeout(this.#saving);
    await this.#files.delete(path);
    await this.#load();
    this.#wait(path);
  }

  /** Goes offline, or comes back. */
  switch() {
    this.online.value = !this.online.value;
    this.soon(0);
  }

  /** Decides about a conflict. */
  settle(path: string, choice: Choice) {
    this.#choices.set(path, choice);
    return this.sync();
  }

  soon(ms = SYNCS_MS) {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => void this.sync(), ms);
  }

  async sync() {
    if (!this.online.value) return;
    this.#asked = this.busy.value;
    if (this.#asked) return;
    this.busy.value = true;
    try {
      await this.save();
      const result = await sync(this.#files, bucket, {
        keepIn: { backend: this.#files },
        names: [this.name, "bucket"],
        // What nobody has decided yet stays as it is on both sides.
        onConflict: ({ path }) => this.#choices.get(path) ?? "leave",
      });
      await this.#end(result);
    } finally {
      this.busy.value = false;
    }
    if (this.#asked) this.soon();
  }

  async #end(result: SyncResult) {
    this.said.value = result.error ?? words(result);
    if (result.error) return;
    this.waiting.value = new Set();
    const open: Conflict[] = [];
    for (const { path, took } of result.conflicts ?? []) {
      this.#choices.delete(path);
      if (took !== "leave") continue;
      const [mine = "", theirs = ""] = [
        await textOf(this.#files, path),
        await textOf(bucket, path),
      ];
      open.push({ path, mine, theirs });
    }
    this.conflicts.value = open;
    await this.#load();
    if (result.changed?.some(({ side }) => side === "b")) this.#changed(this);
  }
}

/** Takes the lowest number that no other tab has, until this tab is closed. */
async function claim(after: number): Promise<number> {
  for (let number = after + 1; ; number++) {
    if (!navigator.locks) return number;
    const isOurs = await new Promise<boolean>((resolve) => {
      void navigator.locks.request(`${DATABASE}-${number}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock === null ? undefined : new Promise(() => {});
      });
    });
    if (isOurs) return number;
  }
}

let made: Promise<Device[]> | undefined;

/** The two devices of this tab. */
export function devices(): Promise<Device[]> {
  made ??= (async () => {
    const all: Device[] = [];
    const changed = (by: Device) => {
      for (const device of all) if (device !== by) device.soon(0);
    };
    if ((await pathsOf(bucket)).length === 0) {
      for (const [path, text] of Object.entries(START)) await bucket.write(path, text);
    }
    let last = 0;
    for (let count = 0; count < 2; count++) {
      last = await claim(last);
      all.push(new Device(last, changed));
    }
    // One that was closed amid a run waits some seconds, in which that run would come to its end.
    for (const device of all) void device.start();
    // What other tabs bring.
    bucket.watch(() => {
      for (const device of all) device.soon();
    });
    return all;
  })();
  return made;
}
