// What can be written in a policy, for the completion of the editor.

import type { Completion } from "@codemirror/autocomplete";

const key = (label: string, info: string, apply = `${label}: `): Completion => ({
  label,
  info,
  apply,
  type: "property",
});

const POLICY = [
  key("readOnly", "Refuses every change.", "readOnly: true"),
  key(
    "readOnlyPrefixes",
    "Refuses changes at and below these directories.",
    'readOnlyPrefixes: ["/config"]',
  ),
  key(
    "permissions",
    "Which paths may be read and written. The first rule that matches decides.",
    'permissions: [\n    { name: "work", operations: ["write"], paths: ["/work/**"], mode: "deny" },\n  ]',
  ),
  key("defaultMode", "What applies to a path that no permission matches.", 'defaultMode: "deny"'),
  key(
    "rateLimit",
    "At most so many operations in a period.",
    "rateLimit: { write: { operations: 10, perMs: 60_000 } }",
  ),
  key("quota", "How much may be stored.", "quota: { maxBytes: 1_000_000 }"),
  key(
    "inspect",
    "Called with content before it is stored; can refuse or replace it.",
    'inspect: ({ path, content }) => {\n    if (String(content).includes("secret")) return { deny: "no secrets" };\n  }',
  ),
  key(
    "hooks",
    "Callbacks around every operation.",
    "hooks: { before: (call) => console.log(call) }",
  ),
  key("audit", "Called with a record of each operation.", "audit: (record) => console.log(record)"),
  key("askTimeoutMs", "Time limit of a question, in milliseconds."),
  key(
    "allowExecute",
    "Allows commands, although a shell follows no rules about files.",
    "allowExecute: true",
  ),
];

const RULE = [
  key("name", "What refusals and questions call the rule.", 'name: "my rule"'),
  key("operations", '"read", "write" or both.', 'operations: ["write"]'),
  key("paths", "Globs over whole paths; /a/** also matches /a.", 'paths: ["/work/**"]'),
  key("mode", '"allow", "deny" or "ask".', 'mode: "deny"'),
];

const AMOUNTS = [
  key("maxBytes", "Bytes of all files together."),
  key("maxFiles", "Number of files."),
  key("maxFileBytes", "Bytes of a single file."),
  key("operations", "Most operations in the period."),
  key("perMs", "Length of the period in milliseconds."),
];

const words = (...labels: string[]): Completion[] =>
  labels.map((label) => ({ label: `"${label}"`, type: "constant" }));

/** Completions for the end of this text. */
export function completions(before: string): Completion[] {
  if (/mode:\s*$/i.test(before)) {
    return /defaultMode:\s*$/.test(before) ? words("allow", "deny") : words("allow", "deny", "ask");
  }
  if (/operations:\s*\[[^\]]*$/.test(before)) return words("read", "write");
  if (/paths:\s*\[[^\]]*$/.test(before))
    return words("/work/**", "/memories/**", "/files/**", "/**");
  const list = before.lastIndexOf("permissions:");
  const rest = list < 0 ? "" : before.slice(list);
  const opened = (open: string, close: string) =>
    rest.split(open).length > rest.split(close).length;
  if (list >= 0 && opened("[", "]")) return opened("{", "}") ? RULE : [];
  if (/(quota|rateLimit):\s*\{[^}]*$/.test(before)) return AMOUNTS;
  return POLICY;
}
