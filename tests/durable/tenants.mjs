// Tenants in one database, and SQL injections. No tenant can read or change the files of another,
// on any of the three kinds of durable backend.

import { HubServer, KEY } from "./hub-server.mjs";
import { dependency, kitbag, pooled, Tally } from "./lib.mjs";
import { Postgres } from "./postgres.mjs";

export async function run() {
  const tally = new Tally();
  const server = await Postgres.start();
  const hub = await HubServer.start();
  const { default: pg } = await dependency("pg");
  const pool = pooled(pg, { connectionString: server.url });
  try {
    const kinds = await places(pool, hub);
    for (const kind of kinds) await tally.part(`tenants: ${kind.name}`, () => tenants(tally, kind));
    await tally.part("injection", () => injection(tally, pool));
  } finally {
    await pool.end();
    await hub.stop();
    await server.stop();
  }
  return tally.result;
}

async function places(pool, hub) {
  const { ContextHubBackend, PostgresBackend, SqlBackend, StoreBackend } = await kitbag();
  const { InMemoryStore } = await dependency("@langchain/langgraph-checkpoint");
  const { default: wasm } = await dependency("node-sqlite3-wasm");
  await new PostgresBackend({ client: pool }).migrate();
  const store = new InMemoryStore();
  const file = new wasm.Database(":memory:");
  const sqlite = (sql, params) => file.all(sql, params);
  return [
    { name: "store", of: (namespace) => new StoreBackend({ store, namespace }), nested: true },
    {
      name: "PostgreSQL",
      of: (namespace) => new PostgresBackend({ client: pool, namespace }),
      nested: true,
    },
    {
      name: "SQLite",
      of: (namespace) =>
        new SqlBackend({ query: sqlite, dialect: "sqlite", namespace, migrate: true }),
      nested: true,
    },
    {
      name: "Context Hub",
      of: (parts) => {
        if (!Array.isArray(parts) || parts.length !== 1) throw new TypeError("a repo has one name");
        return new ContextHubBackend(parts[0], { apiKey: KEY, baseUrl: hub.url });
      },
      nested: false,
    },
  ];
}

const SECRET = "the secret of a";

/** Names similar to `a`, and patterns that could match it. */
const NEIGHBOURS = ["abc", "ab", "aa", "b", "A", "a.b", "a-b", "a_b", "a0", "a.", "a-"];
const NESTED = [
  ["a", "b"],
  ["b", "a"],
  ["a:b"],
  ["a:"],
  [":a"],
  ["a", "a"],
  ["a~"],
  ["a+"],
  ["a@"],
  ["a", "b", "c"],
];
const IMPOSSIBLE = [
  [""],
  ["a", ""],
  ["", "a"],
  [],
  ["*"],
  ["a*"],
  ["**"],
  ["?"],
  ["a?"],
  ["%"],
  ["a%"],
  ["_%"],
  ["[a]"],
  ["{a,b}"],
  ["a/"],
  ["/a"],
  ["a/b"],
  ["../a"],
  [".." + "/"],
  ["a\\"],
  ["a\0"],
  ["\0a"],
  ["a\n"],
  [" a"],
  ["a "],
  ["\u0430"],
  ["\uff41"],
  ["a\u0301"],
  ["a\u200b"],
  ["a'"],
  ['a"'],
  ["a' OR '1'='1"],
  ["a;--"],
  ["a#"],
  ["a,b"],
  [null],
  [1],
  [["a"]],
];
/** Paths with which a tenant tries to reach outside of its own files. */
const REACHES = [
  "/../a/secret.txt",
  "../a/secret.txt",
  "/a/../../secret.txt",
  "/a/secret.txt",
  "/%2e%2e/a/secret.txt",
  "/a%2fsecret.txt",
  "/secret.txt",
  "//secret.txt",
  "/./secret.txt",
  "/~/secret.txt",
  "\\a\\secret.txt",
  "/a\0/secret.txt",
];

async function tenants(tally, kind) {
  const a = kind.of(["a"]);
  const made = await a.write("/secret.txt", SECRET);
  await a.write("/dir/more.txt", SECRET);
  tally.check(`${kind.name}: a has its files`, made.error === undefined, made);
  let attempts = 0;
  const intact = async (what) => {
    const { content } = await kind.of(["a"]).read("/secret.txt");
    const { files } = await kind.of(["a"]).ls("/");
    tally.check(`${kind.name}: ${what} leaves a alone`, content === SECRET && files.length === 2, {
      content,
      files,
    });
  };
  const sees = async (who) => {
    const answers = [
      await who.ls("/"),
      await who.ls("/dir"),
      await who.glob("**"),
      await who.glob("/**/*.txt"),
      await who.grep("secret"),
      await who.grep(".", null, null, null, { regex: true }),
      await who.grep("", "/"),
      await who.read("/secret.txt"),
      await who.readRaw("/secret.txt"),
      await who.downloadFiles(["/secret.txt", "/dir/more.txt"]),
    ];
    const text = JSON.stringify(answers, (_, value) =>
      value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
    );
    const shown = answers
      .slice(0, 7)
      .some(({ files, matches }) => (files ?? matches ?? []).length > 0);
    return text.includes(SECRET) || shown;
  };
  const siblings = [...NEIGHBOURS.map((name) => [name]), ...(kind.nested ? NESTED : [])];
  for (const namespace of siblings) {
    attempts += 1;
    let who;
    try {
      who = kind.of(namespace);
    } catch (error) {
      tally.check(
        `${kind.name}: ${JSON.stringify(namespace)} is refused`,
        error instanceof TypeError,
        String(error),
      );
      continue;
    }
    tally.check(`${kind.name}: ${JSON.stringify(namespace)} sees nothing`, !(await sees(who)));
    await who.delete("/secret.txt");
    await who.delete("/");
    await who.edit("/secret.txt", "secret", "stolen");
    await intact(JSON.stringify(namespace));
  }
  for (const namespace of IMPOSSIBLE) {
    // `owner/name` is a valid name of a repository, and not the same as `a`.
    if (!kind.nested && namespace[0] === "a/b") continue;
    attempts += 1;
    let refused = false;
    try {
      kind.of(namespace);
    } catch (error) {
      refused = error instanceof TypeError;
    }
    tally.check(`${kind.name}: namespace ${JSON.stringify(namespace)} is refused`, refused);
  }
  const b = kind.of(["b"]);
  for (const path of REACHES) {
    attempts += 1;
    const answers = [
      await b.read(path),
      ...(await b.downloadFiles([path])),
      await b.grep("secret", path),
      await b.glob("**", path),
    ];
    const found = answers.some(
      (one) => one.content || one.matches?.length > 0 || one.files?.length > 0,
    );
    tally.check(`${kind.name}: ${JSON.stringify(path)} reaches nothing`, !found, answers);
    await b.write(path, "not a's");
    await b.delete(path);
  }
  await intact("reaching out by paths");
  tally.check(`${kind.name}: 60 attempts or more`, attempts >= 60, attempts);
  console.log(`${kind.name}: ${attempts} attempts`);
}

const INJECTIONS = [
  "'",
  '"',
  "''",
  "\\'",
  "';--",
  "'; DROP TABLE files; --",
  "' OR '1'='1",
  "' OR 1=1 --",
  '" OR ""="',
  "') OR ('1'='1",
  "1; DELETE FROM files",
  "' UNION SELECT * FROM files --",
  "'; UPDATE files SET content='x'; --",
  "$1",
  "$1::text",
  "?",
  "?1",
  ":a",
  "@a",
  "%s",
  "%",
  "_",
  "%%",
  "\\",
  "\\\\",
  "/*",
  "*/",
  "--",
  "#",
  ";",
  "$$; DROP TABLE files; $$",
  "E'\\x27'",
  "chr(39)",
  "0x27",
  "\u02bc; DROP TABLE files",
  "\uff07",
  "`files`",
  "[files]",
  "files; SELECT pg_sleep(9)",
  "' || pg_read_file('x') || '",
];

async function injection(tally, pool) {
  const { PostgresBackend, SqlBackend } = await kitbag();
  tally.check("40 strings", INJECTIONS.length === 40, INJECTIONS.length);
  const { default: wasm } = await dependency("node-sqlite3-wasm");
  const file = new wasm.Database(":memory:");
  const query = (sql, params) => file.all(sql, params);
  const make = {
    PostgreSQL: (more) => new PostgresBackend({ client: pool, namespace: "inject", ...more }),
    SQLite: (more) =>
      new SqlBackend({ query, dialect: "sqlite", namespace: "inject", migrate: true, ...more }),
  };
  for (const [name, of] of Object.entries(make)) {
    const backend = of();
    const bystander = of({ namespace: "bystander" });
    await bystander.write("/kept.txt", "kept");
    for (const evil of INJECTIONS) {
      const shown = `${name}: ${JSON.stringify(evil)}`;
      const path = `/x ${evil.replaceAll("\\", "").replaceAll("/", "")}.txt`;
      const wrote = await backend.write(path, evil);
      const read = await backend.read(path);
      const found = await backend.grep(evil, path);
      const edited = await backend.edit(path, evil, `${evil} again`);
      const again = await backend.read(path);
      tally.check(
        `${shown} is only text`,
        wrote.error === undefined &&
          read.content === evil &&
          found.matches?.length === 1 &&
          edited.occurrences === 1 &&
          again.content === `${evil} again`,
        { wrote, read, found, edited, again },
      );
      await backend.ls(evil);
      await backend.glob(evil, evil);
      await backend.grep("x", evil, evil);
      await backend.readRaw(evil);
      await backend.downloadFiles([evil]);
      await backend.uploadFiles([[evil, new TextEncoder().encode(evil)]]);
      await backend.delete(path);
      for (const option of ["table", "namespace"]) {
        let refused = false;
        try {
          of({ [option]: evil });
        } catch (error) {
          refused = error instanceof TypeError;
        }
        // Some of the strings are valid names.
        const sound = option === "table" ? ["_"] : ["_", "--", ":a", "@a", "0x27"];
        tally.check(`${shown} as ${option}`, refused === !sound.includes(evil), refused);
      }
      const kept = await bystander.read("/kept.txt");
      tally.check(`${shown} leaves the others alone`, kept.content === "kept", kept);
    }
  }
}
