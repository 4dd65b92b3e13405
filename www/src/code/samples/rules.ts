import { StateBackend, withPolicy } from "kitbag";

const guarded = withPolicy(new StateBackend(), {
  permissions: [
    { operations: ["read", "write"], paths: ["/**/.env"], mode: "deny" },
    { operations: ["write"], paths: ["/policies/**"], mode: "deny" },
  ],
  rateLimit: { write: { operations: 200, perMs: 60_000 } },
});
const { error, code } = await guarded.write("/policies/x.md", "");
console.log(code, error); // permission_denied
