// What the playground begins with.

export const sample = {
  "/README.md": `# A small project

Files for you to play with. Choose one, edit it, search in all of them.

- notes/ holds what an agent wrote down
- src/ holds a program

TODO: try a glob such as src/**/*.ts
`,
  "/notes/plan.md": `# Plan

1. Read the sources
2. TODO: find out why the parser is slow
3. Write down what was found
`,
  "/notes/2026/findings.md": `# Findings

The parser read its input twice. It now reads it once.

TODO: measure again with a large file
`,
  "/src/main.ts": `import { parse } from "./parser.js";

// TODO: take the text from a file
const text = "1 + 2 * 3";
console.log(parse(text));
`,
  "/src/parser.ts": `export type Token = { kind: "number" | "operator"; text: string };

export function parse(text: string): Token[] {
  return [...text.matchAll(/\\d+|[+*/-]/g)].map(([text]) => ({
    kind: /\\d/.test(text) ? "number" : "operator",
    text,
  }));
}
`,
  "/data/prices.csv": `item,price
apple,0.40
bread,2.10
milk,1.25
`,
};
