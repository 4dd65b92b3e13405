// How a browser's storage stands: room used and room given, and whether the browser may clear
// it when space runs short. The same for every storage of an origin.

import { messageOf } from "../core/checks.js";
import type { Failure } from "../types.js";

/** How the storage of this origin stands. */
export interface StorageHealth extends Failure {
  /** Bytes this origin uses, all its storages together, as the browser estimates them. */
  usage?: number;
  /** Bytes this origin may use. */
  quota?: number;
  /** Whether the browser keeps it until the user clears it. */
  persisted?: boolean;
}

/** What asking for persistence came to. */
export interface PersistResult extends Failure {
  persisted?: boolean;
}

function missing(api: string): Failure {
  return {
    error: `There is no ${api} here (it needs a secure context: https or localhost), so the browser does not say how its storage stands`,
    code: "unavailable",
  };
}

function refusedBy(api: string, error: unknown): Failure {
  const failure: Failure = { error: `${api} failed: ${messageOf(error)}`, code: "unavailable" };
  Object.defineProperty(failure, "cause", { value: error, enumerable: false });
  return failure;
}

function manager(): StorageManager | undefined {
  return typeof navigator === "object" ? navigator.storage : undefined;
}

export async function storageHealth(): Promise<StorageHealth> {
  const storage = manager();
  if (typeof storage?.estimate !== "function") return missing("navigator.storage.estimate()");
  try {
    const { usage, quota } = await storage.estimate();
    const persisted = typeof storage.persisted === "function" ? await storage.persisted() : false;
    return { usage, quota, persisted };
  } catch (error) {
    return refusedBy("navigator.storage.estimate()", error);
  }
}

export async function persistStorage(): Promise<PersistResult> {
  const storage = manager();
  // Workers may look, but only a page may ask.
  if (typeof storage?.persist !== "function") return missing("navigator.storage.persist()");
  try {
    return { persisted: await storage.persist() };
  } catch (error) {
    return refusedBy("navigator.storage.persist()", error);
  }
}
