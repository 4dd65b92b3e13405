// Names for what has none in the declarations of the package: TypeScript writes these types out there.

import type { Fs, FsFileHandle } from "./types.js";

export type FsPromises = Fs["promises"];
export type FsStats = Awaited<ReturnType<FsFileHandle["stat"]>>;
export type FsReadStream = ReturnType<FsFileHandle["createReadStream"]>;
export type FsWriteStream = ReturnType<FsFileHandle["createWriteStream"]>;
export type FsDir = Awaited<ReturnType<FsPromises["opendir"]>>;
export type FsDirent = NonNullable<ReturnType<FsDir["readSync"]>>;
export type FsWatcher = ReturnType<Fs["watch"]>;
