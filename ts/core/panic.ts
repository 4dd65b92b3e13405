// The error of a defect in kitbag.

/** Thrown or rejected because of a defect in kitbag, or if the stack or the memory ran out. */
export class KitbagPanic extends Error {
  override name = "KitbagPanic";
  readonly code = "internal";
}

/** The memory ran out in the midst of a call. A protocol method returns `too_large` instead. */
export class OutOfMemory extends KitbagPanic {
  override name = "KitbagPanic";
}
