// The state of a browser's storage: used and available space, and whether the browser may evict it.
// These values are the same for every storage of an origin.

import { messageOf } from "../../core/checks.js";
import type { Failure, Result } from "../../types.js";

/** State of this origin's storage, or why it is not known. */
export type StorageHealth = Result<{
  /** Bytes used by all storages of this origin together, as estimated by the browser. */
  usage?: number | undefined;
  /** Bytes that this origin may use. */
  quota?: number | undefined;
  /** Whether the browser keeps the storage until the user clears it. */
  persisted: boolean;
}>;

/** Result of a request for persistent storage. */
export type PersistResult = Result<{
  /** Whether the browser will not evict the storage. */
  persisted: boolean;
}>;

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
  // Workers may read the state, but only a page may ask for persistence.
  if (typeof storage?.persist !== "function") return missing("navigator.storage.persist()");
  try {
    return { persisted: await storage.persist() };
  } catch (error) {
    return refusedBy("navigator.storage.persist()", error);
  }
}
