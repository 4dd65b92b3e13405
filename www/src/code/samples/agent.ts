import {
  CompositeBackend,
  createFileTools,
  IndexedDbBackend,
  OpfsBackend,
  StateBackend,
  withPolicy,
} from "kitbag";

const tree = new CompositeBackend(new StateBackend(), {
  "/memories/": new IndexedDbBackend({ database: "a" }),
  "/files/": new OpfsBackend({ root: "agent" }),
});
const guarded = withPolicy(tree, {
  readOnlyPrefixes: ["/policies"],
  audit: (record) => console.log(record),
});
const { call } = createFileTools(guarded);
await call("ls", { path: "/" });
