// Which call of a shell is running, and in which context a backend is called. While a script runs,
// just-bash hides timers, weak references and other globals from all code in the script's asynchronous
// context. A backend is not part of the script and needs these to use a network, so it is called in the
// context of the shell's caller.

import type { BackendProtocolV2 } from "kitbag";
import { contextHere, contextStorage, type InContext } from "../../core/context.js";

/** One call of a shell. */
export interface Caller {
  /** The context in which it was called. */
  within: InContext;
  /** The signal that ends it. */
  signal: AbortSignal | undefined;
  /** Files that its redirects have opened. */
  opened: Set<string>;
  /** Why redirects could not be written, until that is reported. */
  refused: string[];
  /** Whether text of a redirect was lost, until that is reported. */
  lost: boolean;
}

/** The current call. Where there is no AsyncLocalStorage, a shell has one for all its calls. */
export const callers = contextStorage<Caller>();

/** The methods that a shell uses; the last three are kitbag's own. */
const METHODS = [
  ...(["ls", "glob", "write", "edit", "delete", "uploadFiles", "downloadFiles"] as const),
  ...(["move", "copy", "append"] as const),
];

/** Calls a backend's methods in the caller's context, or in the one where the shell was made. */
export function outside(files: BackendProtocolV2): BackendProtocolV2 {
  const made = contextHere();
  const within = (): InContext => callers?.getStore()?.within ?? made;
  // All arguments are passed on, as `changes.ts` uses options that kitbag adds to the protocol.
  const asked =
    (name: keyof BackendProtocolV2) =>
    (...given: unknown[]) =>
      within()(() => (files[name] as (...given: unknown[]) => unknown).apply(files, given));
  const found = METHODS.filter((name) => name in files).map((name) => [name, asked(name)]);
  const methods = Object.fromEntries(found) as BackendProtocolV2;
  return "capability" in files ? Object.assign(methods, { capability: files.capability }) : methods;
}
