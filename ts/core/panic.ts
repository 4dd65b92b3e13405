// The error of a defect in kitbag.

/** Thrown or rejected because of a defect in kitbag, or if the stack or the memory ran out. */
export class KitbagPanic extends Error {
  /** The name of the class. */
  override name = "KitbagPanic";
  /** The kind of error, as in results. */
  readonly code = "internal";
}

/** The memory ran out in the midst of a call. A protocol method returns `too_large` instead. */
export class OutOfMemory extends KitbagPanic {
  override name = "KitbagPanic";
}
