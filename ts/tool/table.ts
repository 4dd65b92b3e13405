// What is known of each tool before it is called. Written from `src/tool/schema.rs` by
// `KITBAG_WRITE=1 cargo test typescript_has_this_table`; the same test compares them.

/** The names of the tools. */
export type FileToolName =
  | "ls"
  | "read_file"
  | "write_file"
  | "edit_file"
  | "delete"
  | "glob"
  | "grep"
  | "execute"
  | "move_file"
  | "copy_file"
  | "append_file";

/** A tool. */
export interface About {
  /** The name that models use. */
  name: FileToolName;
  /** The name that people read. */
  title: string;
  /** What a call can do. */
  effect: "reads" | "changes" | "destroys" | "runs";
  /** Whether it is offered without being named. */
  isUsual: boolean;
}

/** All tools, in the order in which they are offered. */
export const TABLE: readonly About[] = [
  { name: "ls", title: "List directory", effect: "reads", isUsual: true },
  { name: "read_file", title: "Read file", effect: "reads", isUsual: true },
  { name: "write_file", title: "Write file", effect: "changes", isUsual: true },
  { name: "edit_file", title: "Edit file", effect: "destroys", isUsual: true },
  { name: "delete", title: "Delete", effect: "destroys", isUsual: true },
  { name: "glob", title: "Find files", effect: "reads", isUsual: true },
  { name: "grep", title: "Search in files", effect: "reads", isUsual: true },
  { name: "execute", title: "Run command", effect: "runs", isUsual: true },
  { name: "move_file", title: "Move file", effect: "destroys", isUsual: false },
  { name: "copy_file", title: "Copy file", effect: "destroys", isUsual: false },
  { name: "append_file", title: "Append to file", effect: "changes", isUsual: false },
];

/** Limits of the tools, where the options have no others. */
export const LIMITS = {
  /** Tokens of a result. */
  toolTokenLimitBeforeEvict: 20000,
  /** Tokens of a user's message. */
  humanMessageTokenLimitBeforeEvict: 50000,
  /** Seconds of a command. */
  maxExecuteTimeout: 3600,
};
