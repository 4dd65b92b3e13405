// A scripted agent that works in a turn, over a small project of its own: two changes that are good,
// and one that a person should leave out.

import { begin, createFileTools, type Receipt, StateBackend, type Turn, undo } from "kitbag";
import { type ReviewFile, reviewOf, settleReview } from "kitbag/history";

const TOTAL = `# Revenue of all orders, in cents.
if [ ! -s "$1" ]; then
  echo "no orders in $1" >&2
  exit 1
fi

awk -F, '
  NR == 1 { next }
  NF != 4 { bad += 1; next }
  { sum += $4 }
  END {
    if (bad) print bad " lines skipped" > "/dev/stderr"
    print sum
  }
' "$1"
`;

const README = `# orders

\`bash src/total.sh data/orders.csv\` prints the sum of the prices.
`;

export const project: Record<string, string> = { "/README.md": README, "/src/total.sh": TOTAL };

const edit = (file_path: string, old_string: string, new_string: string) => ({
  file_path,
  old_string,
  new_string,
});

/** What the agent does. */
export const steps = [
  { tool: "read_file", why: "Read the script", input: { file_path: "/src/total.sh" } },
  {
    tool: "edit_file",
    why: "Count the quantities",
    input: edit("/src/total.sh", "sum += $4", "sum += $3 * $4"),
  },
  {
    tool: "edit_file",
    why: "Make it shorter",
    input: edit(
      "/src/total.sh",
      'if [ ! -s "$1" ]; then\n  echo "no orders in $1" >&2\n  exit 1\nfi\n\n',
      "",
    ),
  },
  { tool: "read_file", why: "Read the documentation", input: { file_path: "/README.md" } },
  {
    tool: "edit_file",
    why: "Say what is printed",
    input: edit("/README.md", "the sum of the prices", "the revenue: quantity times price"),
  },
] as const;

/** The files; nothing changes in them before a commit. */
const backend = new StateBackend({ scope: "instance", files: project });

export interface Worked {
  turn: Turn;
  files: ReviewFile[];
}

const encoder = new TextEncoder();

/** Lets the agent work in a new turn on the files as they were at first; what it would change. */
export async function work(): Promise<Worked> {
  const first = Object.entries(project);
  for (const { error, message } of backend.uploadFiles(
    first.map(([path, text]) => [path, encoder.encode(text)]),
  )) {
    if (error) throw new Error(message);
  }
  const turn = begin(backend, { by: "agent" });
  const { call } = createFileTools(turn);
  for (const { tool, input } of steps) {
    const { isError, text } = await call(tool, input);
    if (isError) throw new Error(text);
  }
  const { files, error } = await reviewOf(turn);
  if (!files) throw new Error(error);
  return { turn, files };
}

/** Commits these hunks, and drops the others. */
export async function commit({ turn }: Worked, hunks: string[]): Promise<Receipt> {
  const { receipt, error } = await settleReview(turn, { type: "edit", hunks });
  if (!receipt) throw new Error(error);
  turn.dispose();
  return receipt;
}

/** Drops all that the agent did. */
export async function drop({ turn }: Worked): Promise<void> {
  const { error } = await turn.discard(["/**"]);
  if (error) throw new Error(error);
  turn.dispose();
}

/** Takes a commit back. */
export async function takeBack(receipt: Receipt): Promise<void> {
  const { error } = await undo(backend, receipt);
  if (error) throw new Error(error);
}

/** What a file holds now. */
export const content = (path: string) => backend.read(path).content ?? "";
