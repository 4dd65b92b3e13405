// A request of WebDAV: what it is about, and how it ends early.

import { failed, shownFailure } from "../answers.js";
import type { Call, Served } from "../served.js";
import { BadRequest } from "../wire.js";
import type { Known, Room } from "./record.js";
import { Ended } from "./reply.js";

/** A call of WebDAV. */
export interface Dav extends Call {
  /** The file or directory, without a slash at its end. */
  path: string;
  /** Whether the address ends with a slash. */
  isDirectory: boolean;
  body: Uint8Array<ArrayBuffer>;
  room: Room;
  /** What the room says, as of the last look. */
  known: Known;
  /** Whether this is one of the files that file managers keep for themselves. */
  isAside: boolean;
  /** The files of the tree. */
  files: Served;
  /** Those that file managers keep for themselves; undefined if there are none and none are to be made. */
  kept(makes: boolean): Served | undefined;
  /** The path of another address on this server; undefined for one of another server. */
  pathOf(address: string): string | undefined;
}

/** The address of a path, as answers have it. */
export function hrefOf({ base }: Pick<Call, "base">, path: string, isDirectory: boolean): string {
  const names = path.split("/").map(encodeURIComponent).join("/");
  return `${base}${names}${isDirectory && path !== "/" ? "/" : ""}`;
}

/** Ends the call with what a backend answered. */
export function end(failure: object): never {
  throw new Ended(failed(shownFailure(failure), false));
}

/** Ends the call with a status. */
export function stop(status: number, error: string, code = "invalid_argument"): never {
  throw new Ended(failed({ error, code }, false, status));
}

/** The header `Depth`. */
export function depthOf({ request }: Call, usual: "0" | "1" | "infinity"): "0" | "1" | "infinity" {
  const given = request.headers.get("depth")?.trim().toLowerCase() ?? usual;
  if (given === "0" || given === "1" || given === "infinity") return given;
  throw new BadRequest("The header Depth must be 0, 1 or infinity");
}
