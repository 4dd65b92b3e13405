// The files and texts of the task.

export const LINES = Array.from({ length: 250 }, (_, at) => `line ${at + 1}`);

export const LARGE_ROWS = Array.from({ length: 3_000 }, (_, at) => `row ${at} ${"x".repeat(24)}`);

/** Too large for a conversation: over 80,000 characters. */
export const LARGE = LARGE_ROWS.join("\n");

/** A command of the shell that prints the same. */
export const LARGE_COMMAND = `seq 0 2999 | sed 's/.*/row & ${"x".repeat(24)}/'`;

/** A picture of one pixel, as base64. */
export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

export const PICTURE_BYTES = Uint8Array.from(atob(PICTURE), (letter) => letter.charCodeAt(0));
