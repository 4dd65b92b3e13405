// What the subpaths say that need no other package, in a page as on a server.
import { StateBackend, withPolicy } from "kitbag";
import { fileTools as anthropicTools } from "kitbag/anthropic";
import { runConformance } from "kitbag/conformance";
import { guidedPrompts } from "kitbag/guided";
import "kitbag/regex";
import { withHistory } from "kitbag/history";
import { ignoreFiles } from "kitbag/ignore";
import { withIndex } from "kitbag/indexed";
import { fileTools as openaiTools } from "kitbag/openai";
import { withProvenance } from "kitbag/provenance";
import { sync } from "kitbag/sync";
import { copyTree } from "kitbag/transfer";
import { unchangedReads } from "kitbag/unchanged";

const RULES = {
  labels: [{ paths: ["/web/**"], as: "untrusted" }],
  flows: [{ from: "untrusted", to: ["/memories/**"], then: "refuse" }],
};

export async function says() {
  const files = new StateBackend({ files: { "/a.txt": "straße\n", "/.gitignore": "*.log\n" } });
  const kept = withHistory(files, { keepIn: { backend: new StateBackend() } });
  await kept.write("/b.txt", "one");
  const found = await files.grep("\\p{Ll}{6}", "/", null, null, { regex: true });
  const searched = withIndex(new StateBackend({ files: { "/a": "1" } }), {
    keepIn: { path: "/.index/" },
  });
  const labelled = withProvenance(new StateBackend(), RULES);
  const copied = await copyTree(withPolicy(files, {}), new StateBackend(), { to: "/copy" });
  const synced = await sync(new StateBackend({ files: { "/a": "1" } }), new StateBackend(), {
    keepIn: { backend: new StateBackend() },
  });
  const loaded = [anthropicTools, runConformance, openaiTools, unchangedReads, ignoreFiles];
  const text = [
    found.matches?.length,
    (await searched.grep("1")).matches?.length,
    (await labelled.ls("/")).error ?? "labelled",
    copied.error ?? "copied",
    synced.error ?? `synced ${synced.changed?.length}`,
    typeof guidedPrompts,
    loaded.every((one) => typeof one === "function"),
  ].join(" ");
  return { text };
}
