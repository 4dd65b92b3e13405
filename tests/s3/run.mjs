// What the suites of S3 share: servers that live as long as the suite, named to its test files.

import { startCeph, startMoto } from "./servers.mjs";

const STARTERS = { ceph: startCeph, moto: startMoto };

/** Runs test files beside servers; `names` says which. */
export async function withServers(ctx, names, files, env = {}) {
  const servers = await Promise.all(names.map((name) => STARTERS[name]()));
  try {
    for (const { name, endpoint } of servers) {
      env[`KITBAG_TEST_${name.toUpperCase()}`] = endpoint;
    }
    return await ctx.nodeTests(files, { env });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
