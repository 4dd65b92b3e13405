// The commands and their flags: one table, from which arguments are read, help is printed, and shells
// complete.

/** A flag of a command. */
export interface Flag {
  /** One letter. */
  short?: string;
  /** What follows it; without, it is on or off. */
  value?: string;
  /** The values that it takes, if they are few. */
  values?: readonly string[];
  /** Whether it may be given several times. */
  multiple?: boolean;
  /** What it does, in lines. */
  about: readonly string[];
}

export interface Command {
  form: string;
  about: string;
  flags: Record<string, Flag>;
}

const compare: Flag = {
  value: "HOW",
  values: ["content", "time"],
  about: [
    "content, the default, compares bytes; time takes an",
    "equal size and a time that is not older",
  ],
};

export const COMMANDS = {
  ls: {
    form: "ls ADDRESS [PATH]",
    about: "list a directory",
    flags: { recursive: { short: "r", about: ["list all files below it"] } },
  },
  cat: {
    form: "cat ADDRESS FILE... | cat FILE...",
    about: "print files, byte for byte",
    flags: {},
  },
  grep: {
    form: "grep PATTERN ADDRESS [PATH]",
    about: "search files, print PATH:LINE:TEXT, and end with 1 without a match",
    flags: {
      "ignore-case": { short: "i", about: ["ignore letter case"] },
      "fixed-strings": { short: "F", about: ["the pattern is a text, no regular expression"] },
      glob: { short: "g", value: "GLOB", about: ["search only matching files"] },
      "max-count": { short: "m", value: "N", about: ["at most N matches of each file"] },
      "files-with-matches": { short: "l", about: ["print only the paths of files"] },
      count: { short: "c", about: ["print the number of matches of each file"] },
    },
  },
  cp: {
    form: "cp FROM TO",
    about: "copy all files of a tree; run it again to go on",
    flags: {
      archive: {
        short: "a",
        about: [
          "from folder to folder: links inside FROM stay links",
          "(permissions are always kept)",
        ],
      },
      "on-conflict": {
        value: "RULE",
        values: ["error", "skip", "overwrite"],
        about: [
          "a file of TO has other content: error (the default)",
          "ends the copy, skip keeps it, overwrite replaces it",
        ],
      },
      compare,
    },
  },
  diff: {
    form: "diff ADDRESS ADDRESS",
    about: "compare two trees: - only in the first, + the second, ~ different",
    flags: { compare },
  },
  sync: {
    form: "sync A B",
    about: "bring two trees together; no edit of either is lost",
    flags: {
      "dry-run": { about: ["print what would be done, and end with 1 if there is something"] },
      only: { value: "PATTERN", multiple: true, about: ["only matching files; may be repeated"] },
      ignore: {
        value: "NAME",
        multiple: true,
        about: ["leave out what files of this name list, as .gitignore"],
      },
      conflicts: {
        value: "RULE",
        values: ["both", "a", "b", "leave"],
        about: [
          "both sides changed a file: both (the default) keeps",
          "both, a and b take that of one side",
        ],
      },
      "allow-empty": { about: ["a side without files deletes those of the other"] },
      compare: {
        ...compare,
        about: ["time, the default, trusts sizes and times; content reads all"],
      },
    },
  },
  du: {
    form: "du ADDRESS [PATH]",
    about: "show how much is where",
    flags: {
      depth: { short: "d", value: "N", about: ["how many levels of directories (default 1)"] },
    },
  },
  serve: {
    form: "serve ADDRESS|FOLDER...",
    about: "serve the files over MCP, on standard input and output",
    flags: {
      http: {
        value: "PORT",
        about: [
          "over HTTP, at http://127.0.0.1:PORT/mcp; clients must",
          "send KITBAG_TOKEN as a bearer token if it is set",
        ],
      },
      host: { value: "NAME", about: ["listen on another address; needs KITBAG_TOKEN"] },
      files: { about: ["with --http: the files, for https:// addresses"] },
      webdav: {
        about: ["with --http: the files, also as a drive (WebDAV)"],
      },
      "read-only": { about: ["offer only the tools that read"] },
      deny: {
        value: "PATTERN",
        multiple: true,
        about: ["no access to files that match; may be repeated"],
      },
      allow: {
        value: "PATTERN",
        multiple: true,
        about: ["only files that match; may be repeated"],
      },
      secrets: { about: ["do not deny files that usually contain keys"] },
      structured: { about: ["results also as data, with versions of files"] },
      "ignore-roots": { about: ["serve all of the folder, whatever roots a client has"] },
      shell: {
        about: [
          "also run commands in a folder, with your rights;",
          "they follow no rules about files",
        ],
      },
    },
  },
  completion: {
    form: "completion SHELL",
    about: "print what lets bash or zsh complete commands and flags",
    flags: {},
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

/** The flags of the commands that print. */
const PRINTS: Record<string, Flag> = {
  json: { about: ["print JSON"] },
  color: {
    value: "WHEN",
    values: ["auto", "always", "never"],
    about: ["auto, the default, is on a terminal without NO_COLOR"],
  },
};

/** The flags of the commands that take addresses. */
const ADDRESSED: Record<string, Flag> = {
  endpoint: { value: "URL", about: ["the server of s3:// addresses"] },
  region: { value: "NAME", about: ["the region of s3:// addresses"] },
};

const HELP: Record<string, Flag> = { help: { short: "h", about: ["print this"] } };

/** All flags of a command. */
export function flagsOf(name: CommandName): Array<[string, Flag]> {
  const prints = name === "serve" || name === "completion" ? {} : PRINTS;
  const addressed = name === "completion" ? {} : ADDRESSED;
  return Object.entries({ ...COMMANDS[name].flags, ...prints, ...addressed, ...HELP });
}

/** The command that a word names. */
export const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

/** Flags in the form that `parseArgs` of Node takes. */
export function parsed(name: CommandName) {
  return Object.fromEntries(
    flagsOf(name).map(([flag, { short, value, multiple }]) => [
      flag,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        ...(short && { short }),
        ...(multiple && { multiple }),
      },
    ]),
  );
}

/** Where the words about a flag begin. */
const COLUMN = 27;

/** What `--help` says. It fits a screen of 24 lines and 80 columns. */
export function help(name: CommandName): string {
  const { form, about } = COMMANDS[name];
  const rows = flagsOf(name).map(([flag, { short, value, about: lines }]) => {
    const head = `  ${short ? `-${short}, ` : ""}--${flag}${value ? ` ${value}` : ""}`;
    return `${head.padEnd(COLUMN - 1)} ${lines.join(`\n${" ".repeat(COLUMN)}`)}`;
  });
  const usage = `Usage: kitbag ${form.replace(" | ", "\n       kitbag ")}\n\n${about}\n\n${rows.join("\n")}`;
  return name !== "completion" ? `${usage}\n\n${SHORT}` : usage;
}

const SHORT = `An address is ./folder, s3://bucket/prefix, sqlite:file.db or
postgres://host/database; "kitbag help addresses" says more.`;

/** What `kitbag --help` says. */
export function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(12)}${about}`);
  return `Usage: kitbag COMMAND

${rows.join("\n")}

${SHORT}

"kitbag help COMMAND" has the flags of a command, --version prints the version.
A command ends with 0; with 1 if files differ, failed, are not there, or did not
match; with 2 if it could not run.`;
}
