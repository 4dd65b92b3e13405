// The tree: which storage is mounted where. All views look at the same storages; the agents' calls
// go through a composite whose mounts record what they answer, so the stream can name them.

import { signal } from "@preact/signals";
import {
  type AnyBackend,
  type AuditRecord,
  CompositeBackend,
  IndexedDbBackend,
  OpfsBackend,
  StateBackend,
  withPolicy,
} from "kitbag";
import { guide, rulesPath, startingRules } from "../rules/starting";
import { announceChange } from "./changes";

export type Kind = "memory" | "indexeddb" | "opfs" | "rules" | "s3" | "folder";

export interface Mount {
  /** Such as `/work`. */
  path: string;
  kind: Kind;
  /** Such as "Memory". */
  name: string;
  /** What a reader should know about it, in one sentence. */
  about: string;
  backend: AnyBackend;
  removable?: boolean;
}

const DATABASE = "kitbag-playground";

/** Files of this page alone, restored from a snapshot after a reload. */
export const memory = new StateBackend({ scope: "instance", writeMode: "overwrite" });
export const memories = new IndexedDbBackend({ database: DATABASE, namespace: "memories" });
export const session = new IndexedDbBackend({
  database: DATABASE,
  namespace: "session",
  writeMode: "overwrite",
  durability: "relaxed",
});
/** The rules themselves: the page may change them, the tree only shows them. */
export const ruleFiles = new IndexedDbBackend({
  database: DATABASE,
  namespace: "rules",
  writeMode: "overwrite",
});

const hasOpfs = typeof navigator.storage?.getDirectory === "function";
export const files = hasOpfs ? new OpfsBackend({ root: "kitbag-playground" }) : undefined;

export const mounts = signal<Mount[]>([
  {
    path: "/work",
    kind: "memory",
    name: "Memory",
    about: "StateBackend: in WebAssembly memory, kept over a reload by a snapshot",
    backend: memory,
  },
  {
    path: "/memories",
    kind: "indexeddb",
    name: "IndexedDB",
    about: "IndexedDbBackend: stays in this browser, shared by its tabs",
    backend: memories,
  },
  {
    path: "/files",
    kind: files ? "opfs" : "memory",
    name: files ? "OPFS" : "Memory",
    about: files
      ? "OpfsBackend: real files in the origin private file system"
      : "This browser has no origin private file system, so these files are in memory",
    backend: files ?? new StateBackend({ scope: "instance" }),
  },
  {
    path: "/policies",
    kind: "rules",
    name: "Read-only",
    about: "IndexedDbBackend behind withPolicy({ readOnly: true })",
    backend: withPolicy(ruleFiles, { readOnly: true }),
  },
]);

/** One tree over all mounts. `seen` hears what each mount answers. */
function compose(list: Mount[], seen?: (mount: Mount, record: AuditRecord) => void) {
  const routes = list.map((mount) => [
    `${mount.path}/`,
    seen ? withPolicy(mount.backend, { audit: (record) => seen(mount, record) }) : mount.backend,
  ]);
  return new CompositeBackend(
    withPolicy(new StateBackend({ scope: "instance" }), { readOnly: true }),
    Object.fromEntries(routes),
  );
}

/** The tree of the views, where nobody listens. */
export const tree = signal(compose(mounts.value));

/** A tree of an agent: every answer of a mount is reported. */
export function observedTree(seen: (mount: Mount, record: AuditRecord) => void) {
  return compose(mounts.value, seen);
}

function remount(list: Mount[]) {
  mounts.value = list;
  tree.value = compose(list);
  announceChange();
}

export function addMount(mount: Mount) {
  remount([...mounts.value, mount]);
}

export function removeMount(path: string) {
  remount(mounts.value.filter((mount) => mount.path !== path));
}

/** A path for one more mount: with a number, where the name is taken. */
export function freePath(name: string): string {
  const taken = (path: string) => mounts.value.some((mount) => mount.path === path);
  let path = `/${name}`;
  for (let n = 2; taken(path); n++) path = `/${name}-${n}`;
  return path;
}

/** The mount that a path belongs to. */
export function mountOf(path: string): Mount | undefined {
  return mounts.value.find((mount) => path === mount.path || path.startsWith(`${mount.path}/`));
}

/** Writes the rules on the first visit. */
export async function seedRules() {
  const { content } = await ruleFiles.read(rulesPath, 0, 1);
  if (content === undefined) await ruleFiles.write(rulesPath, startingRules);
  await ruleFiles.write("/README.md", guide);
}
