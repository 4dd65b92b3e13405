// The samples of all views. They are modules, so the compiler checks them.

import type { Sample } from "../ui/code";
import agent from "./samples/agent.ts?raw";
import files from "./samples/files.ts?raw";
import model from "./samples/model.ts?raw";
import review from "./samples/review.ts?raw";
import rules from "./samples/rules.ts?raw";
import shell from "./samples/shell.ts?raw";
import speed from "./samples/speed.ts?raw";
import sync from "./samples/sync.ts?raw";

export const samples = {
  agent: { title: "One tree, many storages, rules", code: agent, docs: "policies.html" },
  files: { title: "Edits from two tabs", code: files, docs: "tabs.html" },
  review: { title: "A turn, reviewed in parts", code: review, docs: "approvals.html" },
  sync: { title: "A sync that goes on", code: sync, docs: "sync.html" },
  rules: { title: "Rules around any backend", code: rules, docs: "policies.html" },
  shell: { title: "Commands from your code", code: shell, docs: "tools.html" },
  speed: { title: "A search over 10,000 files", code: speed, docs: "performance.html" },
  model: { title: "Tools for a model", code: model, docs: "tools.html" },
} satisfies Record<string, Sample>;
