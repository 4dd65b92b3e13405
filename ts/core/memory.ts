// Sets, removes and reads single files of a memory backend. Used for initial files, and for
// backends over a state that the caller owns.

import type { Failure, FileData, ReadResult } from "../types.js";
import { now, received } from "./call.js";
import { encoded } from "./checks.js";
import { StateFile, StateGiven, StatePath } from "./descriptions.js";
import { incoming } from "./filedata.js";
import { create, type Values, write } from "./given.js";
import { enter, glue } from "./instance.js";
import { finish, sent } from "./message.js";
import { Op } from "./operations.js";
import * as ask from "./requests.js";
import * as unpack from "./results.js";

/**
 * Stores one file as it is given and returns its canonical path. `ofState`: it is from a state, which may
 * have files of the library itself. `at`: when it was changed, if it does not say so itself; default now.
 */
export function setFile(
  handle: number,
  path: string,
  file: unknown,
  ofState = false,
  at?: string,
): { path: string } | Failure {
  const refusal = encoded(
    () => incoming(file),
    // Bytes under the name of a text file stay bytes; a type that is given with them is kept.
    ({ content, v1, stored, mimeType, created, modified = at }) =>
      write(StateFile, { content, path, ofState, v1, stored, mimeType, created, modified }),
  );
  if (refusal) return refusal;
  const length = finish();
  sent();
  enter(() => glue.state_set(handle, length));
  return received((reply) => ({ path: reply.text() }));
}

/** Removes one file, if it exists. */
export function removeFile(handle: number, path: string): void {
  encoded(
    () => ({ path }),
    (seen) => write(StatePath, seen),
  );
  const length = finish();
  enter(() => glue.state_remove(handle, length));
}

/** Returns one file of a state as it is stored. */
export function rawFile(handle: number, path: string): FileData | undefined {
  if (
    encoded(
      () => ({ path }),
      (seen) => write(StatePath, seen),
    )
  )
    return undefined;
  const length = finish();
  enter(() => glue.state_raw(handle, length));
  const answer = received((reply) => ({ data: unpack.fileData(reply) }));
  if (!("data" in answer)) return undefined;
  enter(() => glue.reply_done());
  return answer.data;
}

/** A memory as it is without options. */
const PLAIN: Values<typeof StateGiven> = {
  writeMode: "create",
  fileFormat: "v2",
  maxBytes: undefined,
  graphs: undefined,
};

/** Lines of one file that is not stored anywhere, as `read` returns them. */
export function pageOf(path: string, file: unknown, offset?: number, limit?: number): ReadResult {
  const handle = create("pageOf", StateGiven, PLAIN, glue.state_new);
  try {
    const stored = setFile(handle, path, file);
    if ("error" in stored) return stored;
    const refusal = ask.askRead(path, offset, limit);
    return refusal ?? now(handle, Op.read, unpack.unpackRead);
  } finally {
    enter(() => glue.handle_drop(handle));
  }
}
