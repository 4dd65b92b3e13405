// Output redirects of just-bash. If a file cannot be written, just-bash ends the whole script and
// drops the output from before, unless the file is opened under a number of its own. So `> file`
// becomes `250> file 1>&250 250>&-`, and a command with such a redirect is followed by one that
// reports what could not be written and sets the exit code. Scripts are changed in parsed form, by a
// plugin, as just-bash provides for. Parts that are parsed later (`eval`, `source`) stay as they are.

import type { ScriptNode } from "just-bash";

/** A number that scripts do not use. */
const FD = 250;

/** The command that reports refused redirects. */
export const REPORT = "kitbag-redirects";

interface Node {
  type: string;
  line?: number;
  [field: string]: unknown;
}

interface Redirection extends Node {
  fd: number | null;
  fdVariable?: string;
  operator: string;
  target: Node;
}

const word = (...parts: Node[]): Node => ({ type: "Word", parts });
const literal = (value: string): Node => ({ type: "Literal", value });
const duplicate = (fd: number, target: string): Redirection => ({
  type: "Redirection",
  fd,
  operator: ">&",
  target: word(literal(target)),
});

/** Which standard descriptors a redirect sends to a file; none if it is of another kind. */
function sends({ operator, fd, fdVariable, target }: Redirection): number[] {
  if (fdVariable !== undefined) return [];
  if (/^\/dev\/(null|stdout|stderr|full)$/.test(plain(target))) return [];
  if (operator === "&>" || operator === "&>>") return [1, 2];
  const single = operator === ">" || operator === ">>" || operator === ">|";
  return single && (fd === null || fd === 1 || fd === 2) ? [fd ?? 1] : [];
}

/** The text of a word without expansions; empty for others. */
function plain(target: Node): string {
  const [part, more] = (target.parts ?? []) as Node[];
  return part?.type === "Literal" && more === undefined ? String(part.value) : "";
}

function rewritten(redirects: Redirection[]): Redirection[] {
  return redirects.flatMap((one) => {
    const fds = sends(one);
    if (fds.length === 0) return [one];
    const opened = { ...one, fd: FD, operator: one.operator.replace("&", "") };
    return [opened, ...fds.map((fd) => duplicate(fd, String(FD))), duplicate(FD, "-")];
  });
}

const alone = (command: Node): Node => ({
  type: "Statement",
  pipelines: [{ type: "Pipeline", commands: [command], negated: false }],
  operators: [],
  background: false,
});

/** A command with its redirects rewritten, and the report after it; none if it needs no report. */
function guarded(command: Node): [Node, Node] | undefined {
  const redirects = command.redirections as Redirection[] | undefined;
  if (command.type === "FunctionDef" || !redirects?.some((one) => sends(one).length > 0)) {
    return undefined;
  }
  const report = {
    type: "SimpleCommand",
    name: word(literal(REPORT)),
    args: [word({ type: "ParameterExpansion", parameter: "?", operation: null })],
    assignments: [],
    redirections: [],
    ...lineOf(command),
  };
  return [{ ...command, redirections: rewritten(redirects) }, report];
}

const lineOf = ({ line }: Node) => (line === undefined ? {} : { line });

/** A command inside a pipeline or a list: both commands in a group. */
function grouped(command: Node): Node {
  const both = guarded(command);
  if (!both) return command;
  return { type: "Group", body: both.map(alone), redirections: [], ...lineOf(command) };
}

/** A statement that is one command becomes two; a group would change what `set -u` does. */
function separate(statement: Node): Node[] {
  const [pipeline, ...others] = statement.pipelines as Node[];
  const [command, ...more] = (pipeline?.commands ?? []) as Node[];
  if (!pipeline || !command || others.length + more.length > 0) return [statement];
  if (pipeline.negated || pipeline.timed || statement.background) return [statement];
  const both = guarded(command);
  if (!both) return [statement];
  const [run, report] = both;
  return [{ ...statement, pipelines: [{ ...pipeline, commands: [run] }] }, alone(report)];
}

function walked(node: unknown): unknown {
  if (Array.isArray(node)) {
    return node.flatMap((one) =>
      one?.type === "Statement" ? separate(one).map(inside) : [walked(one)],
    );
  }
  return typeof node === "object" && node !== null ? inside(node as Node) : node;
}

function inside(node: Node): Node {
  const entries = Object.entries(node).map(([name, value]) => [name, walked(value)]);
  const copy = Object.fromEntries(entries) as Node;
  if (copy.type === "Pipeline") copy.commands = (copy.commands as Node[]).map(grouped);
  return copy;
}

/** Rewrites the output redirects of a script. */
export const redirects = {
  name: REPORT,
  transform: ({ ast }: { ast: ScriptNode }) => ({ ast: walked(ast) as ScriptNode }),
};
