// Files as callers see them: in listings and matches, and as they are stored.

/** One entry of a listing. */
export interface FileInfo {
  /** Canonical path, such as `/notes/a.txt`. A directory's path ends with `/`. */
  path: string;
  /** True for a directory. */
  is_dir?: boolean;
  /** Size in bytes; 0 for a directory. Absent if a foreign backend does not report it. */
  size?: number;
  /** Time of the last change, ISO 8601; empty for a directory. */
  modified_at?: string;
}

/** One matching line. */
export interface GrepMatch {
  /** Canonical path of the file. */
  path: string;
  /** Line number, counted from 1. */
  line: number;
  /** The line without its line feed. */
  text: string;
  /** The lines before the match, if the option `before` was given. */
  before?: string[];
  /** The lines after the match, if the option `after` was given. */
  after?: string[];
}

/** A file to store whose bytes come in parts: a `Blob`, or what has its size and a stream. */
export interface FileParts {
  /** How many bytes it has. If the stream has more or fewer, nothing is stored. */
  readonly size: number;
  /** Begins to read the bytes. It is called again if they have to be sent again. */
  stream(): ReadableStream<Uint8Array>;
  /**
   * How many bytes may be in memory, where a storage or a rule needs the file as a whole; a larger one is
   * refused with `too_large` there. Default: any number.
   */
  readonly most?: number;
}

/** A stored file, form `v2`: text as one string, anything else as bytes. */
export interface FileDataV2 {
  /** The text, or the bytes of a binary file. */
  content: string | Uint8Array;
  /** MIME type, such as `text/plain`. */
  mimeType: string;
  /** Creation time, ISO 8601. */
  created_at: string;
  /** Time of the last change, ISO 8601. */
  modified_at: string;
}

/** A stored text file in the older form `v1`: an array of lines. */
export interface FileDataV1 {
  /** The lines, without their line feeds. */
  content: string[];
  /** Creation time, ISO 8601. */
  created_at: string;
  /** Time of the last change, ISO 8601. */
  modified_at: string;
}

/** A stored file in either form that kitbag writes. */
export type FileData = FileDataV1 | FileDataV2;

/** A stored file as deepagents' Python package writes it. kitbag reads it but never writes it. */
export interface PythonFileData {
  /** Text, or base64; see `encoding`. */
  content: string;
  /** How `content` is encoded. */
  encoding: "utf-8" | "base64";
  /** Creation time, ISO 8601. */
  created_at?: string;
  /** Time of the last change, ISO 8601. */
  modified_at?: string;
}

/** A file as callers may pass it: text, bytes, or stored data in any of its three forms. */
export type FileInput = string | Uint8Array | FileData | PythonFileData;
