// Names for what has none in the declarations of the package: TypeScript writes these types out there.

import type { Types } from "./types.js";

export type UriLike = Types<never>["uri"];
export type Disposable = Types<never>["disposable"];
export type FileChange<U> = Types<U>["change"];
export type Token = Types<never>["token"];
export type Pattern = Types<never>["pattern"];
export type SearchedFolder<U> = Types<U>["folder"];
export type TextQuery = Types<never>["query"];
export type TextSettings<U> = Types<U>["text"];
export type FileSettings<U> = Types<U>["files"];
export type Provider<U> = Types<U>["provider"];
