// Single files of wasm's memory, put and taken as they are given: for backends over a state that
// belongs to somebody else, and for files to begin with.

import { now, Op, received } from "./core/call.js";
import { encoded } from "./core/checks.js";
import { enter, glue } from "./core/instance.js";
import {
  finish,
  putBool,
  putBytes,
  putLongText,
  putOptionalText,
  putText,
  sent,
} from "./core/message.js";
import * as ask from "./core/requests.js";
import * as unpack from "./core/results.js";
import { incoming } from "./filedata.js";
import type { Failure, FileData, ReadRawResult } from "./types.js";

/** Puts one file as it is given; tells its canonical path. */
export function setFile(handle: number, path: string, file: unknown): { path: string } | Failure {
  const refusal = encoded(
    () => incoming(file),
    (seen) => {
      if (typeof seen.content === "string") putLongText(seen.content);
      else putBytes(seen.content);
      putText(path);
      putBool(seen.v1);
      // Bytes under a name of text stay what they are; a type given with them is kept.
      putOptionalText(seen.mimeType);
      putOptionalText(seen.created);
      putOptionalText(seen.modified);
    },
  );
  if (refusal) return refusal;
  const length = finish();
  sent();
  enter(() => glue.state_set(handle, length));
  return received((reply) => ({ path: reply.text() }));
}

/** Removes one file, if it is there. */
export function removeFile(handle: number, path: string): void {
  encoded(() => path, putText);
  const length = finish();
  enter(() => glue.state_remove(handle, length));
}

/** One file as it is stored. */
export function rawFile(handle: number, path: string): FileData | undefined {
  if (ask.askFile(path)) return undefined;
  const answer: ReadRawResult = now(handle, Op.readRaw, unpack.unpackReadRaw);
  return answer.data;
}
