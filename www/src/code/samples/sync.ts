import { HttpBackend, OpfsBackend } from "kitbag";
import { sync } from "kitbag/sync";

const local = new OpfsBackend();
const bucket = new HttpBackend({ url: "/files" });

// Again and again; waits while the browser is offline.
const stop = sync.watch(local, bucket, {
  keepIn: { backend: local, path: "/.kitbag/sync/bucket" },
  onConflict: ({ path }) => (path.endsWith(".md") ? "both" : "b"),
  onResult({ changed = [], conflicts = [], error }) {
    console.log(error ?? changed, conflicts);
  },
});

addEventListener("pagehide", () => void stop());
