// ContextHubBackend over a Hub that the test implements, with the built-in client and langsmith's.

import { HubServer, KEY } from "./hub-server.mjs";
import { dependency, kitbag, raceCreates, raceEdits, Tally } from "./lib.mjs";

export async function run() {
  const tally = new Tally();
  const hub = await HubServer.start();
  try {
    await suite(tally, hub);
  } finally {
    await hub.stop();
  }
  return tally.result;
}

async function suite(tally, hub) {
  const { ContextHubBackend } = await kitbag();
  const { Client } = await dependency("langsmith");
  let last = 0;
  const own = (repo, options) =>
    new ContextHubBackend(repo, { apiKey: KEY, baseUrl: hub.url, ...options });
  const langsmith = () => new Client({ apiUrl: hub.url, apiKey: KEY, autoBatchTracing: false });
  const theirs = (repo, options) =>
    new ContextHubBackend(repo, { client: langsmith(), ...options });

  await tally.conform("ContextHubBackend by fetch", ({ writeMode }) =>
    own(`r${++last}`, { writeMode }),
  );
  await tally.conform("ContextHubBackend by langsmith", ({ writeMode }) =>
    theirs(`acme/r${++last}`, { writeMode }),
  );

  const eight = (make) => Array.from({ length: 8 }, make);
  await raceEdits(
    tally,
    "Context Hub",
    eight(() => own("edits")),
    50,
    own("edits"),
  );
  await raceCreates(
    tally,
    "Context Hub",
    eight(() => own("edits")),
    8,
  );
  await raceEdits(
    tally,
    "Context Hub by langsmith",
    eight(() => theirs("acme/edits2")),
    50,
    own("edits2"),
  );
  await raceCreates(
    tally,
    "Context Hub by langsmith",
    eight(() => theirs("acme/edits2")),
    8,
  );
  tally.check("stale parents were met", hub.refused > 0, hub.refused);

  const before = hub.commits;
  const many = own("many");
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) => many.write(`/n/${n}.md`, `text ${n}`)),
  );
  tally.check(
    "30 writes at once all land",
    answers.every((one) => one.error === undefined),
    answers,
  );
  tally.check("as one commit", hub.commits - before === 1, hub.commits - before);
  const seen = await own("many").glob("**/*.md");
  tally.check("and another client sees them", seen.files.length === 30, seen.files?.length);
  const weird = await many.write("/__proto__", "plain");
  const back = await own("many").read("/__proto__");
  tally.check("__proto__ is a name like any other", back.content === "plain", { weird, back });

  const uploads = await many.uploadFiles([
    ["/ok.md", new TextEncoder().encode("fine")],
    ["/bad.bin", new Uint8Array([0xff, 0xfe])],
  ]);
  tally.check(
    "bytes are refused alone",
    uploads[0].error === null && uploads[1].error === "invalid_path",
    uploads,
  );

  hub.failing = 503;
  const down = await many.write("/later.md", "x");
  const unread = await own("many").read("/ok.md");
  hub.failing = 0;
  tally.check(
    "a failing Hub is an error",
    down.code === "unavailable" && unread.code === "unavailable",
    { down, unread },
  );
  tally.check("that does not tell the key", !JSON.stringify([down, unread]).includes(KEY), down);
  const again = await many.write("/later.md", "x");
  tally.check("and passes", again.error === undefined, again);
  const unknown = await new ContextHubBackend("many", { apiKey: "wrong", baseUrl: hub.url }).ls(
    "/",
  );
  tally.check("an unknown key is permission_denied", unknown.code === "permission_denied", unknown);

  hub.repos.get("many").files["skills/x"] = { type: "skill", repo_handle: "other" };
  const linked = await own("many").write("/skills/x/SKILL.md", "mine");
  tally.check(
    "what is linked in is not ours to write",
    linked.code === "permission_denied",
    linked,
  );
}
