// What the reader of the documentation has already: the names that its code uses without declaring
// them. `given.mjs` has their values in tests.

import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { LanguageModel } from "ai";
import type { Backend, BackendProtocolV2, D1Like, R2BucketLike, StateBackend } from "kitbag";

declare global {
  /** As much of React's types as the pages need. */
  namespace JSX {
    interface IntrinsicElements {
      // biome-ignore lint/suspicious/noExplicitAny: the attributes of every element
      [element: string]: any;
    }
  }
  /** Not in TypeScript's types of the DOM yet. */
  function showDirectoryPicker(options?: {
    mode?: "read" | "readwrite";
  }): Promise<FileSystemDirectoryHandle>;
}

/** A backend with some files, whose methods return promises. */
export const backend: Backend;
/** Files in memory. */
export const files: StateBackend;
/** A chat model of LangChain. */
export const model: BaseChatModel;
/** A model of the Vercel AI SDK. */
export const languageModel: LanguageModel;
export const checkpointer: BaseCheckpointSaver;
export const store: BaseStore;
export const userId: string;
export const prompt: string;
/** Bindings of a Worker. */
export const env: { BUCKET: R2BucketLike; DB: D1Like };
/** Credentials of a bucket. */
export const accessKeyId: string;
export const secretAccessKey: string;
/** A SQLite database with prepared statements. */
export const db: { prepare(sql: string): { all(...values: unknown[]): object[] } };
/** A client of a machine that runs commands. */
export const sandbox: {
  id: string;
  home: string;
  run(command: string): Promise<{ output: string; exitCode: number }>;
};
/** A question to a person. */
export const confirm: (question: string) => boolean;
/** A backend of one's own. */
export const MyBackend: new (options?: { writeMode?: "create" | "overwrite" }) => BackendProtocolV2;
/** An endpoint that needs a user who is allowed to. */
export const mayAccess: (request: Request, key: string) => Promise<boolean>;
