// The operations by number. `src/protocol/operation.rs` has the same list; a test compares them.

/** All operations, in the order of their numbers. */
export const OPERATIONS = [
  "ls",
  "read",
  "readRaw",
  "grep",
  "glob",
  "write",
  "edit",
  "delete",
  "uploadFiles",
  "downloadFiles",
  "execute",
  "move",
  "copy",
  "append",
] as const;

/** Name of an operation: the name of its method. */
export type Operation = (typeof OPERATIONS)[number];

/** The operations on files, which every backend has. */
export const FILE_METHODS = OPERATIONS.filter(
  (name): name is Exclude<Operation, "execute"> => name !== "execute",
);

/** The numbers of the operations. */
export const Op = Object.fromEntries(OPERATIONS.map((name, number) => [name, number])) as Readonly<
  Record<Operation, number>
>;
