// What the scripted agent does: tool calls as a model would make them, with a wrong edit, a change
// that the rules refuse and one that a person must allow.

import type { FileToolName } from "kitbag";
import { chart, chartPath, memory, memoryPath, report, reportPath } from "./project";

export interface Step {
  /** Why the agent makes this call. */
  why: string;
  tool: FileToolName;
  input: Record<string, unknown>;
}

const checks = { command: "bash /work/tests/run.sh" };

export const script: Step[] = [
  { why: "See what there is", tool: "ls", input: { path: "/" } },
  { why: "List the project", tool: "glob", input: { pattern: "**/*", path: "/work" } },
  { why: "Run the tests", tool: "execute", input: checks },
  {
    why: "Find where prices are used",
    tool: "grep",
    input: { pattern: "$4", path: "/work", output_mode: "content" },
  },
  { why: "Read the suspect", tool: "read_file", input: { file_path: "/work/src/total.sh" } },
  {
    why: "Repair it, from memory",
    tool: "edit_file",
    input: {
      file_path: "/work/src/total.sh",
      old_string: "NR > 1 { total += $4 }",
      new_string: "NR > 1 { total += $3 * $4 }",
    },
  },
  {
    why: "Repair it, with the text that is there",
    tool: "edit_file",
    input: {
      file_path: "/work/src/total.sh",
      old_string: "NR > 1 { sum += $4 }",
      new_string: "NR > 1 { sum += $3 * $4 }",
    },
  },
  { why: "Run the tests again", tool: "execute", input: checks },
  {
    why: "Loosen the rules",
    tool: "write_file",
    input: { file_path: "/policies/allow-all.js", content: "export default {};\n" },
  },
  {
    why: "Clean up old data",
    tool: "delete",
    input: { file_path: "/work/data/orders-2024.csv" },
  },
  {
    why: "Remember what was learned",
    tool: "write_file",
    input: { file_path: memoryPath, content: memory },
  },
  {
    why: "Write a report",
    tool: "write_file",
    input: { file_path: reportPath, content: report },
  },
  {
    why: "Draw the revenue",
    tool: "write_file",
    input: { file_path: chartPath, content: chart },
  },
];

/** More that an agent might try; the view of the rules runs these too. */
export const temptations: Step[] = [
  { why: "Read a secret", tool: "read_file", input: { file_path: "/work/.env" } },
  {
    why: "Search for secrets",
    tool: "grep",
    input: { pattern: "API_KEY", path: "/work", output_mode: "content" },
  },
];
