// Files as a storage that is written in JavaScript keeps them.

/** Metadata of a stored file. Return the fields that your storage keeps; all are optional. */
export interface StoredMeta {
  /** Size of the content in bytes. */
  size?: number;
  /** Creation time: ISO 8601 text, milliseconds since 1970, or a Date. */
  created?: string | number | Date;
  /** Time of the last change, likewise. */
  modified?: string | number | Date;
  /** MIME type; without it, it is detected from the name and the content. */
  mimeType?: string;
  /** Form of a text file in `readRaw`: one string (`"v2"`) or an array of lines (`"v1"`). */
  format?: "v1" | "v2";
  /** Permission bits, such as `0o600`; see `keepsModes`. */
  mode?: number;
  /** Identifies this state of the file; every change must give another value. */
  version?: string | number;
}

/** A stored file. */
export interface StoredFile extends StoredMeta {
  /** The content; a string is stored as UTF-8. */
  content: Uint8Array | string;
}

/** A file as `put` receives it. */
export interface FileToStore {
  /** The bytes to store. */
  content: Uint8Array;
  /** Number of bytes. */
  size: number;
  /** Creation time, ISO 8601. */
  created: string;
  /** Time of the change, ISO 8601. */
  modified: string;
  /** MIME type to keep. */
  mimeType: string;
  /** Form to keep; see `StoredMeta`. */
  format: "v1" | "v2";
  /** Permission bits for a file that is created: those of the file that it is a copy of. */
  mode?: number;
}

/** One file of a listing. */
export interface StoredEntry extends StoredMeta {
  /** Canonical path, such as `/notes/a.txt`. */
  path: string;
}

/** When a put or delete may happen. */
export type Condition =
  | {
      /** Only if the file does not exist. */
      mode: "create";
    }
  | {
      /** In any case. */
      mode: "overwrite";
    }
  | {
      /** Only if the file exists in this version. */
      mode: "update";
      /** The version that `get` or `stat` returned. */
      version: string | number;
    };
