// What the functions of an fs object return: files, directories, streams and watchers. Only handles and
// what tells of events have public names; TypeScript writes the others out in the declarations of a program.

/** A handle of `promises.open`, by its descriptor. */
type Handle = {
  /** The descriptor. */
  readonly fd: number;
};

/** What is read is text. */
type WithEncoding = {
  /** Encoding of the text. */
  encoding: string;
};

/** Names an encoding of text, such as `utf8`. */
type Encoding = WithEncoding | string;

/** What is written: a text or bytes. */
type Content = string | ArrayBufferView;

/** Content, also in pieces. */
type Pieces = Content | AsyncIterable<Content> | Iterable<Content>;

/** A time: a `Date`, or seconds since 1970. */
type Time = Date | number | string;

/** How a file is read or written. */
type FileSettings = {
  /** Encoding of the text. */
  encoding?: string | null;
  /** How the file is opened, such as `a` or `wx`. */
  flag?: string | number;
  /** Permissions of a file that is created. */
  mode?: number;
  /** Ends the call. */
  signal?: AbortSignal;
};

/** Where a part of a file is, and where it goes in a buffer. */
type ReadPlace = {
  /** Where the bytes begin in the buffer. */
  offset?: number;
  /** How many are read. */
  length?: number;
  /** Where they begin in the file. Default: where the last read ended. */
  position?: number | bigint | null;
};

/** Where what is read goes. */
type ReadBuffer<B> = {
  /** A buffer. Default: a new one of 16 KiB. */
  buffer?: B;
};

/** The options of a stream, as Node's. */
type StreamSettings = {
  /** How the file is opened. */
  flags?: string;
  /** Encoding of the text. */
  encoding?: string;
  /** An open file to use. */
  fd?: number | Handle;
  /** Permissions of a file that is created. */
  mode?: number;
  /** Closes the file at the end. Default true. */
  autoClose?: boolean;
  /** The first byte. */
  start?: number;
  /** The last byte, of a stream that is read. */
  end?: number;
  /** Bytes in the stream's buffer. */
  highWaterMark?: number;
  /** Ends the stream. */
  signal?: AbortSignal;
};

/** Numbers of `stat`. */
type StatSettings = {
  /** As `bigint`, with nanoseconds. */
  bigint?: boolean;
};

/** What was read. */
type Read<B> = {
  /** How many bytes. */
  bytesRead: number;
  /** Where they are. */
  buffer: B;
};

/** What was read into several buffers. */
type ReadAll<B> = {
  /** How many bytes. */
  bytesRead: number;
  /** Where they are. */
  buffers: B[];
};

/** What was written. */
type Written<C> = {
  /** How many bytes. */
  bytesWritten: number;
  /** What was given. */
  buffer: C;
};

/** What was written of several buffers. */
type WrittenAll<B> = {
  /** How many bytes. */
  bytesWritten: number;
  /** What was given. */
  buffers: B[];
};

/** What a path is, as `stat` returns it. */
type FsStats = {
  /** Always 0. */
  readonly dev: number;
  /** A number made of the path. */
  readonly ino: number;
  /** Kind and permissions; the latter are those that were set through an fs object, if any. */
  readonly mode: number;
  /** Always 1. */
  readonly nlink: number;
  /** Always 0. */
  readonly uid: number;
  /** Always 0. */
  readonly gid: number;
  /** Always 0. */
  readonly rdev: number;
  /** Bytes; 4096 for a directory. */
  readonly size: number;
  /** Always 4096. */
  readonly blksize: number;
  /** Size in units of 512 bytes. */
  readonly blocks: number;
  /** The time of the last change, in milliseconds: no backend keeps another. */
  readonly atimeMs: number;
  /** The time of the last change, in milliseconds. */
  readonly mtimeMs: number;
  /** The time of the last change, in milliseconds. */
  readonly ctimeMs: number;
  /** The time of the last change, in milliseconds. */
  readonly birthtimeMs: number;
  /** The time of the last change. */
  readonly atime: Date;
  /** The time of the last change. */
  readonly mtime: Date;
  /** The time of the last change. */
  readonly ctime: Date;
  /** The time of the last change. */
  readonly birthtime: Date;
  /** Whether it is a file. */
  isFile(): boolean;
  /** Whether it is a directory. */
  isDirectory(): boolean;
  /** Always false. */
  isSymbolicLink(): boolean;
  /** Always false. */
  isBlockDevice(): boolean;
  /** Always false. */
  isCharacterDevice(): boolean;
  /** Always false. */
  isFIFO(): boolean;
  /** Always false. */
  isSocket(): boolean;
};

/** An open file. */
export interface FsFileHandle {
  /** The descriptor; -1 once it is closed. */
  readonly fd: number;
  /** Reads into a buffer, from `position` or where the last read ended. */
  read<B extends ArrayBufferView>(
    buffer: B,
    offset?: number | null,
    length?: number | null,
    position?: number | bigint | null,
  ): Promise<Read<B>>;
  /** Reads into a buffer, with the other arguments in an object. */
  read<B extends ArrayBufferView>(buffer: B, options?: ReadPlace): Promise<Read<B>>;
  /** Reads up to 16 KiB, or into the buffer of the options. */
  read<B extends ArrayBufferView = Uint8Array>(
    options?: ReadPlace & ReadBuffer<B>,
  ): Promise<Read<B>>;
  /** Reads into several buffers, one after the other. */
  readv<B extends ArrayBufferView>(buffers: B[], position?: number | null): Promise<ReadAll<B>>;
  /** Writes bytes (`buffer, offset, length, position`) or a text (`text, position, encoding`). */
  write<C extends Content>(
    data: C,
    offsetOrPosition?: number | null,
    lengthOrEncoding?: number | string | null,
    position?: number | null,
  ): Promise<Written<C>>;
  /** Writes several buffers, one after the other. */
  writev<B extends ArrayBufferView>(buffers: B[], position?: number | null): Promise<WrittenAll<B>>;
  /** The rest of the file as text. */
  readFile(options: Encoding): Promise<string>;
  /** The rest of the file as bytes. */
  readFile(options?: FileSettings | null): Promise<Uint8Array>;
  /** Writes from where the last read or write ended. */
  writeFile(data: Pieces, options?: FileSettings | string | null): Promise<void>;
  /** The same as `writeFile`. */
  appendFile(data: Pieces, options?: FileSettings | string | null): Promise<void>;
  /** What the file is. */
  stat(options?: StatSettings): Promise<FsStats>;
  /** Cuts the file, or fills it with zeros, to a length. */
  truncate(length?: number): Promise<void>;
  /** Does nothing: what is written is stored. */
  sync(): Promise<void>;
  /** Does nothing: what is written is stored. */
  datasync(): Promise<void>;
  /** Sets permissions; see `promises.chmod`. */
  chmod(mode: number | string): Promise<void>;
  /** Sets the owner; see `promises.chown`. */
  chown(uid: number, gid: number): Promise<void>;
  /** Sets the time; see `promises.utimes`. */
  utimes(atime: Time, mtime: Time): Promise<void>;
  /** The file as a stream of the web. */
  readableWebStream(): ReadableStream<Uint8Array>;
  /** A stream that reads the file and closes it. */
  createReadStream(options?: StreamSettings | string): FsReadStream;
  /** A stream that writes the file and closes it. */
  createWriteStream(options?: StreamSettings | string): FsWriteStream;
  /** Closes the file. */
  close(): Promise<void>;
}

/** Called at an event. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments depend on the event
type EventListener = (...args: any[]) => void;

/** What streams and watchers have of Node's `EventEmitter`. */
export interface FsEmitter {
  /** Calls back at an event. */
  on(event: string, listener: EventListener): this;
  /** Calls back at the next event. */
  once(event: string, listener: EventListener): this;
  /** Ends that. */
  off(event: string, listener: EventListener): this;
}

/** A stream of the host's class `Readable`. */
type FsReadStream = FsEmitter &
  AsyncIterable<Uint8Array> & {
    /** What is read. */
    readonly path: unknown;
    /** Bytes that were read. */
    readonly bytesRead: number;
    /** Sends all to another stream. */
    pipe<T>(destination: T): T;
    /** Ends the stream, and calls back when that is done; with an error if something was not read. */
    close(callback?: (error?: Error | null) => void): void;
    /** Ends the stream. */
    destroy(error?: Error): void;
  };

/** A stream of the host's class `Writable`. It stores what it gathered every 4 MiB, and at the end. */
type FsWriteStream = FsEmitter & {
  /** What is written. */
  readonly path: unknown;
  /** Bytes that were taken. */
  readonly bytesWritten: number;
  /** Takes a piece; false if the next one should wait for `drain`. */
  write(piece: Content, encoding?: string): boolean;
  /** Stores what is left; `finish` tells when that is done. */
  end(piece?: Content): void;
  /** Does the same, and calls back after it. */
  close(callback?: (error?: Error | null) => void): void;
  /** Ends the stream without that. */
  destroy(error?: Error): void;
};
