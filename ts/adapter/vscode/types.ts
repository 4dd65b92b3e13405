// The types of VS Code that `kitbag/vscode` uses, as far as it uses them: it imports nothing of the editor,
// and its object fits the declarations of each version. `U` is the editor's class `Uri`.

/** What is used of a `Uri`. */
type UriLike = {
  /** The path, decoded. */
  readonly path: string;
  /** The same with another path. */
  with(change: {
    /** The other path. */
    path: string;
  }): unknown;
};

/** Makes an error of one kind. */
type Failing<U> = (messageOrUri?: string | U) => Error;

/** What is used of the module `vscode`. */
export type VsCode<U> = {
  /** The editor's errors. */
  FileSystemError: {
    /** Any other error. */
    new (messageOrUri?: string | U): Error;
    /** There is nothing at the path. */
    FileNotFound: Failing<U>;
    /** Something is at the path. */
    FileExists: Failing<U>;
    /** It is no directory. */
    FileNotADirectory: Failing<U>;
    /** It is a directory. */
    FileIsADirectory: Failing<U>;
    /** A rule refuses it. */
    NoPermissions: Failing<U>;
    /** Not now, such as while another writer changes the file. */
    Unavailable: Failing<U>;
  };
  /** A part of a document. */
  Range: new (
    startLine: number,
    startCharacter: number,
    endLine: number,
    endCharacter: number,
  ) => object;
};

/** What ends something. */
type Disposable = {
  /** Ends it. */
  dispose(): void;
};

/** A change of a file. */
type FileChange<U> = {
  /** 1 changed, 2 created, 3 deleted, as in `FileChangeType`. */
  readonly type: number;
  /** The file. */
  readonly uri: U;
};

/** What `stat` says. */
type FileStat = {
  /** 1 a file, 2 a directory, as in `FileType`. */
  type: number;
  /** The same as `mtime`: no backend says another time. */
  ctime: number;
  /** The time of the last change in milliseconds, which grows with each change. */
  mtime: number;
  /** Bytes of a file. */
  size: number;
  /** 1 if the files are read-only, as in `FilePermission`. */
  permissions?: number;
};

/** Whether to replace what is at the new path. */
type Replacing = {
  /** Replaces it. */
  readonly overwrite: boolean;
};

/** Ends a search. */
type Token = {
  /** Whether it is ended. */
  readonly isCancellationRequested: boolean;
  /** Calls back when it is. */
  onCancellationRequested(listener: () => unknown): Disposable;
};

/** A pattern of names: a text, or one that begins at a place of its own. */
type Pattern =
  | string
  | {
      /** Where it begins. */
      readonly baseUri: UriLike;
      /** The pattern. */
      readonly pattern: string;
    };

/** A folder to search in. */
type SearchedFolder<U> = {
  /** The folder. */
  folder: U;
  /** Patterns of the files to search; none: all. */
  includes: string[];
  /** Patterns of files and folders to leave out. */
  excludes: Pattern[];
};

/** What to search for. */
type TextQuery = {
  /** A text, or an expression. */
  pattern: string;
  /** Whether it is an expression. */
  isRegExp?: boolean;
  /** Whether upper and lower case differ. */
  isCaseSensitive?: boolean;
  /** Whether only whole words count. */
  isWordMatch?: boolean;
};

/** How to search. */
type TextSettings<U> = {
  /** Where. */
  folderOptions: SearchedFolder<U>[];
  /** The most matches. */
  maxResults: number;
  /** How much of a line to show. */
  previewOptions: {
    /** Characters. */
    charsPerLine: number;
  };
  /** Lines to show before and after a match. */
  surroundingContext: number;
};

/** Where to look for files by name. */
type FileSettings<U> = {
  /** Where. */
  folderOptions: SearchedFolder<U>[];
  /** The same object for all searches of one dialog. */
  session: object | undefined;
  /** The most files. */
  maxResults: number;
};

/** A backend as VS Code takes it: `FileSystemProvider`, `TextSearchProvider2` and `FileSearchProvider2`. */
type Provider<U> = {
  /** Whether nothing can be changed, for `registerFileSystemProvider`. */
  readonly isReadonly: boolean;
  /** Calls back after changes of what is watched. */
  onDidChangeFile(
    listener: (changes: FileChange<U>[]) => unknown,
    thisArgs?: unknown,
    disposables?: Disposable[],
  ): Disposable;
  /** Begins to tell of changes at and below a path. */
  watch(
    uri: U,
    options: {
      /** Also what is further below. */
      readonly recursive: boolean;
      /** Patterns of what is not told of. */
      readonly excludes: readonly string[];
    },
  ): Disposable;
  /** What is at a path. */
  stat(uri: U): Promise<FileStat>;
  /** What is in a directory: names with 1 for a file, 2 for a directory. */
  readDirectory(uri: U): Promise<[string, number][]>;
  /** Creates a directory. */
  createDirectory(uri: U): Promise<void>;
  /** The content of a file. */
  readFile(uri: U): Promise<Uint8Array>;
  /** Creates or replaces a file. */
  writeFile(
    uri: U,
    content: Uint8Array,
    options: {
      /** Creates it if there is none. */
      readonly create: boolean;
      /** Replaces one that exists. */
      readonly overwrite: boolean;
    },
  ): Promise<void>;
  /** Deletes a file or a directory. */
  delete(
    uri: U,
    options: {
      /** Also a directory with something in it. */
      readonly recursive: boolean;
    },
  ): Promise<void>;
  /** Moves a file or a directory. */
  rename(oldUri: U, newUri: U, options: Replacing): Promise<void>;
  /** Copies a file or a directory. */
  copy(source: U, destination: U, options: Replacing): Promise<void>;
  /** Finds texts in files. */
  provideTextSearchResults(
    query: TextQuery,
    options: TextSettings<U>,
    progress: {
      /** Takes a match, or a line near one. */
      report(result: object): void;
    },
    token: Token,
  ): Promise<{
    /** Whether there are more matches than were wanted. */
    limitHit: boolean;
  }>;
  /** Finds files by the letters of their paths. */
  provideFileSearchResults(pattern: string, options: FileSettings<U>, token: Token): Promise<U[]>;
};

/** These types by their names. Those without an export are written out in the declarations of a program. */
export interface Types<U> {
  /** An address. */
  uri: UriLike;
  /** What ends something. */
  disposable: Disposable;
  /** A change of a file. */
  change: FileChange<U>;
  /** Ends a search. */
  token: Token;
  /** A pattern of names. */
  pattern: Pattern;
  /** A folder to search in. */
  folder: SearchedFolder<U>;
  /** What to search for. */
  query: TextQuery;
  /** How to search. */
  text: TextSettings<U>;
  /** Where to look for files by name. */
  files: FileSettings<U>;
  /** What `fileSystemProvider` returns. */
  provider: Provider<U>;
}
