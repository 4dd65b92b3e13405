// The part of `@mastra/core/workspace` that `kitbag/mastra` uses. The package takes 110 MB with what it needs,
// so that a build goes without it; the suite `seats` compiles the adapter with the package's own types.

declare module "@mastra/core/workspace" {
  type Content = string | Buffer | Uint8Array;
  export interface FileStat {
    name: string;
    path: string;
    type: "file" | "directory";
    size: number;
    createdAt: Date;
    modifiedAt: Date;
  }
  export interface FileEntry {
    name: string;
    type: "file" | "directory";
    size?: number;
  }
  export interface WalkEntry extends FileEntry {
    path: string;
  }
  export interface WriteOptions {
    recursive?: boolean;
    overwrite?: boolean;
    expectedMtime?: Date;
  }
  export interface ListOptions {
    recursive?: boolean;
    extension?: string | string[];
    maxDepth?: number;
  }
  export interface CopyOptions {
    overwrite?: boolean;
    recursive?: boolean;
  }
  export interface RemoveOptions {
    recursive?: boolean;
    force?: boolean;
  }
  export interface WalkOptions {
    maxDepth?: number;
    includeHidden?: boolean;
  }
  export interface FilesystemGrepOptions {
    pattern: string;
    path: string;
    caseSensitive: boolean;
    includeHidden: boolean;
    maxCountPerFile?: number;
    maxTotalMatches?: number;
    contextLines?: number;
  }
  export interface FilesystemGrepMatch {
    line: number;
    column: number;
    text: string;
    before?: string[];
    after?: string[];
  }
  export interface FilesystemGrepResult {
    path: string;
    matches: FilesystemGrepMatch[];
  }
  export interface WorkspaceFilesystem {
    readonly id: string;
    readonly name: string;
    readonly provider: string;
    readonly readOnly?: boolean;
    status: "ready";
    getInfo?(): { id: string; name: string; provider: string; readOnly?: boolean };
    getInstructions?(): string;
    realpath?(path: string): Promise<string>;
    readFile(path: string, options?: { encoding?: BufferEncoding }): Promise<string | Buffer>;
    writeFile(path: string, content: Content, options?: WriteOptions): Promise<void>;
    appendFile(path: string, content: Content): Promise<void>;
    deleteFile(path: string, options?: RemoveOptions): Promise<void>;
    copyFile(src: string, dest: string, options?: CopyOptions): Promise<void>;
    moveFile(src: string, dest: string, options?: CopyOptions): Promise<void>;
    mkdir(path: string, options?: { recursive?: boolean }): Promise<void>;
    rmdir(path: string, options?: RemoveOptions): Promise<void>;
    readdir(path: string, options?: ListOptions): Promise<FileEntry[]>;
    walk?(path: string, options?: WalkOptions): Promise<WalkEntry[]>;
    grep?(options: FilesystemGrepOptions): Promise<FilesystemGrepResult[]>;
    exists(path: string): Promise<boolean>;
    stat(path: string): Promise<FileStat>;
  }
  export class FilesystemError extends Error {
    constructor(message: string, code: string, path: string);
  }
  export class FileNotFoundError extends FilesystemError {
    constructor(path: string);
  }
  export class DirectoryNotFoundError extends FilesystemError {
    constructor(path: string);
  }
  export class FileExistsError extends FilesystemError {
    constructor(path: string);
  }
  export class IsDirectoryError extends FilesystemError {
    constructor(path: string);
  }
  export class NotDirectoryError extends FilesystemError {
    constructor(path: string);
  }
  export class DirectoryNotEmptyError extends FilesystemError {
    constructor(path: string);
  }
  export class PermissionError extends FilesystemError {
    constructor(path: string, operation: string);
  }
  export class UnsupportedGrepPatternError extends FilesystemError {
    constructor(pattern: string, reason?: string);
  }
  export class StaleFileError extends FilesystemError {
    constructor(path: string, expectedMtime: Date, actualMtime: Date);
  }
}
