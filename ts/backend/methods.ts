// The types of the methods of every backend, once: `StateBackend` has them with results, all others with
// promises. What a method does follows from its call (`calls` of `backend.ts`).

import type {
  CallOptions,
  DeleteOptions,
  DeleteResult,
  EditResult,
  FileDownloadResponse,
  FileUploadResponse,
  GlobResult,
  GrepOptions,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
  TransferOptions,
  WriteOptions,
  WriteResult,
} from "../types.js";

/** Whether a method returns its result, or a promise of it. */
export type How = "now" | "later";

/** What a method returns. */
type Given<H extends How, T> = H extends "now" ? T : Promise<T>;

/** The last argument of a method: a call that is over when it returns has no time limit or signal. */
type Options<H extends How, T> = H extends "now" ? [] : [options?: T];

/** The methods of a backend. */
export interface FileMethods<H extends How> {
  /**
   * Lists one directory level, in byte order of the paths; paths of directories end with `/`. A
   * missing directory and the path of a file give an empty listing.
   */
  ls(path: string, ...options: Options<H, CallOptions>): Given<H, LsResult>;

  /**
   * Reads lines of a text file. A binary file is returned complete, as a `Uint8Array`. A missing file
   * fails with `not_found`.
   *
   * @param offset Number of lines to skip: 0 (the default) begins at the first line. Past the end,
   *   the content is empty.
   * @param limit Most lines to return. Default 500. `nextOffset` of the result continues the read.
   * @example
   * // Lines 101 to 200; `startLine` and `endLine` of the result count from 1.
   * const page = await files.read("/log.txt", 100, 100);
   */
  read(
    filePath: string,
    offset?: number,
    limit?: number,
    ...options: Options<H, CallOptions>
  ): Given<H, ReadResult>;

  /**
   * Returns a file as it is stored, complete, with its MIME type and times. A missing file fails with
   * `not_found`.
   *
   * With `start` or `end`, it returns the bytes from `start` (default 0) up to, and without, `end` (default:
   * the end of the file), clipped to the file.
   *
   * @example
   * const { data, part } = await files.readRaw("/film.mp4", { start: 0, end: 65_536 });
   */
  readRaw(
    filePath: string,
    options?: CallOptions & {
      /** The offset of the first byte. */
      start?: number;
      /** The offset behind the last byte. */
      end?: number;
    },
  ): Given<H, ReadRawResult>;

  /**
   * Searches files for a literal text, or with `options.regex` for a regular expression, line by
   * line. Letter case matters. Binary files are skipped. Matches are ordered by path, then line. A
   * wrong expression fails with `invalid_pattern`; without matches the list is empty.
   *
   * @param pattern The text. One with a line feed matches nothing, an empty one every line.
   * @param path File or directory to search. Default `/`.
   * @param glob Searches only matching files. Without `/` it is matched against file names, with
   *   `/` against the path below `path`.
   * @param maxCount Most matches to return; if there are more, `truncated` is set. Default: no
   *   limit but 128 MiB of results. The options may be in its place.
   */
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | GrepOptions | null,
    options?: GrepOptions,
  ): Given<H, GrepResult>;

  /**
   * Finds files whose path below `path` (default `/`) matches a pattern, newest first. `*` and `?`
   * match inside a segment, `**` also matches `/`, and `{a,b}`, `[abc]`, `[!a]` and `\` work as
   * usual. A pattern without `/` matches only directly below `path`; one that begins with `/` is
   * matched against whole paths. A wrong pattern fails with `invalid_pattern`.
   *
   * @example
   * const { files } = await backend.glob("*.{md,txt}", "/notes");
   */
  glob(pattern: string, path?: string, ...options: Options<H, CallOptions>): Given<H, GlobResult>;

  /**
   * Creates a file. If it exists, the call fails with `already_exists`, or replaces it with
   * `writeMode: "overwrite"`. A failed call leaves the file as it was. Bytes are stored unchanged.
   * For a path with a binary type, such as `.png`, a string must be base64 or a `data:` URL;
   * otherwise the call fails with `invalid_argument`.
   */
  write(
    filePath: string,
    content: string | Uint8Array,
    options?: WriteOptions,
  ): Given<H, WriteResult>;

  /**
   * Replaces a literal text. `oldString` must occur exactly once, unless `replaceAll` (default
   * false) is true. If it is not found, differences in line endings are ignored. `oldString` may be
   * empty only if the file is.
   *
   * It fails with `no_match` if the text is not in the file, `ambiguous_edit` if it is there several
   * times, `not_found` without the file, `conflict` if another writer was faster, and
   * `invalid_argument` for a binary file. The file is then unchanged.
   *
   * With two `Uint8Array`s the whole file must equal `oldString` and becomes `newString`; otherwise
   * the result is `conflict`.
   */
  edit(
    filePath: string,
    oldString: string | Uint8Array,
    newString: string | Uint8Array,
    replaceAll?: boolean,
    ...options: Options<H, CallOptions>
  ): Given<H, EditResult>;

  /**
   * Deletes a file, or a directory with everything below it. If there is nothing, the call fails with
   * `not_found`. The root cannot be deleted.
   */
  delete(filePath: string, options?: DeleteOptions): Given<H, DeleteResult>;

  /**
   * Stores files as bytes, replacing existing ones. Returns a result for each, in order; one that
   * fails does not stop the others. On success its `error` is null.
   *
   * The bytes of a large file may come in parts, from a `Blob` or an object with `size` and `stream`. A folder
   * and S3 store them while they come, others when all are there. The file is seen when it is whole.
   *
   * @example
   * await files.uploadFiles([["/film.mp4", await openAsBlob("film.mp4")]]); // of node:fs
   */
  uploadFiles(
    files: Array<
      [
        path: string,
        content:
          | Uint8Array
          | (H extends "now"
              ? never
              : {
                  /** How many bytes come. If there are more or fewer, nothing is stored. */
                  readonly size: number;
                  /** Begins to read them; called again if they have to be sent again. */
                  stream(): ReadableStream<Uint8Array>;
                  /**
                   * How many bytes may be in memory, where a storage or a rule needs the file as a whole; a
                   * larger one is refused there, with `too_large`. Default: any number.
                   */
                  readonly most?: number;
                }),
      ]
    >,
    options?: CallOptions & {
      /**
       * Refuse a path that is a directory with something in it, with `is_directory`. Without it, backends
       * that have no real directories, such as memory, keep a file beside a directory of its name.
       */
      onlyFiles?: boolean;
    },
  ): Given<H, FileUploadResponse[]>;

  /**
   * Fetches files as bytes. Returns a result for each path, in order; one that fails does not stop
   * the others. On success its `error` is null.
   */
  downloadFiles(
    paths: string[],
    ...options: Options<H, CallOptions>
  ): Given<H, FileDownloadResponse[]>;

  /**
   * Moves a file, or a directory with everything below it, file by file. If the new path exists, the
   * call fails with `already_exists`; with `overwrite` a file replaces a file. A directory is never
   * replaced, and nothing is moved into one: name the new path in full. If a move breaks off, the
   * error says which files are where, and no file is gone from both paths.
   *
   * @example
   * await files.move("/draft.md", "/final.md", { overwrite: true });
   */
  move(from: string, to: string, options?: TransferOptions): Given<H, WriteResult>;

  /** Copies a file, or a directory with everything below it. The rules are those of `move`. */
  copy(from: string, to: string, options?: TransferOptions): Given<H, WriteResult>;

  /**
   * Adds to the end of a file, text or binary. A missing file fails with `not_found`: `write` creates
   * it. Concurrent appends are all kept, as edits are.
   */
  append(
    filePath: string,
    content: string | Uint8Array,
    ...options: Options<H, CallOptions>
  ): Given<H, WriteResult>;
}
