// What can be asked of a history, and of what is kept with one, by number. `src/layer/history/question.rs`
// has the same list; a test compares them.

/** The newest changes of a path. */
export const LOG = 0;
/** What was changed from one moment to another; an empty second one is now. */
export const DIFF = 1;
/** Gives a path what it held at a moment. */
export const RESTORE = 2;
/** The calls that made a file what it is. */
export const WHY = 3;
/** Drops what is not kept. */
export const PRUNE = 4;
/** The turns that are kept in a directory of a backend. */
export const KEPT_TURNS = 5;
/** Names the state of all files. */
export const PIN = 6;
/** Lets a pin go. */
export const UNPIN = 7;
/** All pins. */
export const PINS = 8;
/** Whether a pin or, without one, every pin is whole. */
export const VERIFY = 9;
/** Gives a pin a label. */
export const LABEL = 10;
/** The pin that has a label. */
export const LABELLED = 11;
/** The next changes of a turn that is kept. */
export const CHANGED = 12;
/** Those of some files, in lines, that show through a turn that is kept. */
export const SHOWING = 13;
