// The rules that the playground starts with, as the code that a user edits.

export const rulesPath = "/agent.js";

export const startingRules = `/** @type {import("kitbag").Policy} */
export default {
  permissions: [
    // Secrets: nobody reads them, and no search shows that they exist.
    { name: "secrets", operations: ["read", "write"], paths: ["/**/.env"], mode: "deny" },
    // The rules are not the agent's to change.
    { name: "own rules", operations: ["write"], paths: ["/policies/**"], mode: "deny" },
    // Data: a person decides.
    { name: "data", operations: ["write"], paths: ["/work/data/**"], mode: "ask" },
  ],
  rateLimit: { write: { operations: 200, perMs: 60_000 } },
  quota: { maxFileBytes: 5_000_000 },
};
`;

export const guide = `# Rules

\`agent.js\` is what the agent may do. It reads these files, and cannot change them: this mount is
read-only, and a rule denies it as well. You can, in the view "Rules".
`;
