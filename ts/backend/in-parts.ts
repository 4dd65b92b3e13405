// Files that are stored while their bytes come: for the classes that can, and what is put around them.

import chunk from "#chunk/parts";
import { later, limitOf } from "../core/call.js";
import { callOptions } from "../core/checks.js";
import { handleOf } from "../core/handle.js";
import { glue } from "../core/instance.js";
import { Op } from "../core/operations.js";
import { Parts } from "../core/part-source.js";
import * as ask from "../core/requests.js";
import * as unpack from "../core/results.js";
import type { FileUploadResponse } from "../types.js";
import { storeInParts } from "./backend.js";

/** To be called when a class is made that stores parts. */
export function loadParts(): void {
  chunk.load();
  storeInParts(async (self, path, content, options) => {
    const handle = handleOf(self);
    const one = { inputs: [{ path }], sound: [] };
    const read = callOptions(options);
    const parts = new Parts(content);
    const begin = (length: number) => glue.upload_parts(handle, length, limitOf(read), parts);
    try {
      const answer =
        ask.askStream(path, parts, options) ??
        (await later(handle, Op.uploadFiles, unpack.unpackUpload(one), read, begin));
      const results = Array.isArray(answer) ? answer : unpack.refusedBatch(one, answer);
      return results[0] as FileUploadResponse;
    } finally {
      parts.close();
    }
  });
}
