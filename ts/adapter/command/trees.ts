// The commands over two trees: cp and diff. Each returns its exit code.

import { compareTrees, copyTree } from "../transfer.js";
import { addressFlags, choice, exitCodeOf, good, type Line, using, words } from "./line.js";
import {
  CommandError,
  count,
  named,
  paint,
  print,
  printJson,
  printLines,
  progressBar,
  sizeText,
  tell,
} from "./output.js";

export async function cp(line: Line): Promise<number> {
  const [from = "", to = ""] = words(line, 2, 2, "cp FROM TO");
  const onConflict = choice(line.flags, "on-conflict", ["error", "skip", "overwrite"]);
  const compare = choice(line.flags, "compare", ["content", "time"]);
  return using(from, addressFlags(line.flags, false), (source) =>
    using(to, addressFlags(line.flags, true), async (target) => {
      if (line.flags.archive && !(source.folder && target.folder)) {
        throw new CommandError(
          "--archive is for two folders; other places have no links and modes",
        );
      }
      const [outer, inner] = [source.place, target.place];
      if (outer !== undefined && inner !== outer && inner?.startsWith(outer)) {
        throw new CommandError("TO is inside FROM; copy to a place outside of it");
      }
      const progress = progressBar();
      const result = await copyTree(source.backend, target.backend, {
        from: source.directory,
        to: target.directory,
        signal: line.signal,
        ...(onConflict && { onConflict }),
        ...(compare && { compare }),
        ...(line.flags.archive && { links: "keep" as const }),
        ...(progress.onProgress && { onProgress: progress.onProgress }),
      });
      progress.end();
      if (line.flags.json) await printJson(result);
      else {
        const { copied, equal, skipped, bytes, emptyDirectories } = result;
        await print(
          `${count(copied)} copied (${sizeText(bytes)}), ${equal} equal, ${skipped} skipped\n`,
        );
        if (emptyDirectories > 0)
          tell(`kitbag cp: ${emptyDirectories} empty directories were left out`);
        if (result.linksLeftOut) {
          tell(`kitbag cp: ${result.linksLeftOut} links out of FROM, or to nothing, were left out`);
        }
        for (const { path, error } of result.failures) tell(`kitbag cp: ${path}: ${error}`);
      }
      if (result.error === undefined) return 0;
      if (result.failures.length === 0) tell(`kitbag cp: ${result.error}`);
      // What came to no file could not run.
      const { copied, equal, skipped, failed } = result;
      if (copied + equal + skipped + failed === 0 && exitCodeOf(result.code) === 2) return 2;
      if (failed > result.failures.length) tell(`kitbag cp: ${failed} files failed`);
      tell("kitbag cp: run it again to go on; what is equal is not copied again");
      return 1;
    }),
  );
}

export async function diff(line: Line): Promise<number> {
  const [one = "", other = ""] = words(line, 2, 2, "diff ADDRESS ADDRESS");
  const compare = choice(line.flags, "compare", ["content", "time"]);
  return using(one, addressFlags(line.flags, false), (first) =>
    using(other, addressFlags(line.flags, false), async (second) => {
      const progress = progressBar();
      const result = await compareTrees(first.backend, second.backend, {
        from: first.directory,
        to: second.directory,
        signal: line.signal,
        ...(compare && { compare }),
        ...(progress.onProgress && { onProgress: progress.onProgress }),
      });
      progress.end();
      good(result);
      const marks = [
        { mark: "-", as: "gone", paths: result.onlyFirst },
        { mark: "+", as: "made", paths: result.onlySecond },
        { mark: "~", as: "other", paths: result.different },
      ] as const;
      const lines = marks.flatMap(({ paths, ...one }) => paths.map((path) => ({ ...one, path })));
      lines.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
      if (line.flags.json) await printJson(result);
      else await printLines(lines.map(({ mark, as, path }) => paint(as, `${mark} ${named(path)}`)));
      return lines.length > 0 ? 1 : 0;
    }),
  );
}
