// What a caller meets when this library is wrong.

/** A defect of this library, as its caller meets it. */
export class KitbagPanic extends Error {
  override name = "KitbagPanic";
  readonly code = "internal";
}
