// Who keeps the search index of a database up to date, and when: writers after some hundred files, and
// `migrate`; a search never. Several at once, a reader without rights, policies above and below, and an
// index of an older form that is there already.

import { blocks, isOfIndex, rowsOf, shown, TABLES } from "./search-index.mjs";

const encode = (text) => new TextEncoder().encode(text);
const words = ["retry_budget", "kelvin", "the end", "istanbul", "0123456789"];
const some = (count, edition = 0) =>
  Array.from({ length: count }, (_, n) => [
    `/d${n % 7}/f${n}.txt`,
    encode(`${words[(n + edition) % words.length]} ${n} of ${edition}\n`),
  ]);

/** The tables and one of the triggers of an index of the older form in SQLite. */
const OLDER = (files, number) => [
  `CREATE VIRTUAL TABLE "${files}_trigrams_${number}" USING fts5(body, content='', contentless_delete=1, detail=none, tokenize='trigram')`,
  `CREATE TABLE "${files}_search_${number}" (id INTEGER PRIMARY KEY, namespace TEXT, path TEXT, UNIQUE (namespace, path))`,
  `CREATE TRIGGER "${files}_search_${number}_insert" AFTER INSERT ON "${files}" BEGIN DELETE FROM "${files}_search_${number}" WHERE namespace = new.namespace AND path = new.path; INSERT INTO "${files}_search_${number}" (namespace, path) VALUES (new.namespace, new.path); END`,
  `INSERT INTO "${files}_search_${number}" (id, namespace, path) VALUES (0, '', '')`,
];

/** What `grep` finds with the index is what it finds without. */
async function same(check, what, files, plain, pattern = "retry_budget") {
  const [found, scan] = [await files.grep(pattern), await plain.grep(pattern)];
  check(what, scan.matches?.length > 0 && shown(found) === shown(scan), [found, scan]);
}

/**
 * @param kitbag the package's `withPolicy`
 * @param given as `searchHistories` takes it
 */
export async function writers(tally, what, { withPolicy }, { dialect, query, make }) {
  const check = (about, holds, seen) => tally.check(`${what}: ${about}`, holds, seen);
  const namespace = "writers";
  const plain = make({ query, namespace });
  const sent = [];
  let amid;
  const watched = async (sql, params) => {
    sent.push([sql, params]);
    const answer = await query(sql, params);
    // Between the statement that asks the index and the one that reads the files.
    if (/\bwant AS MATERIALIZED/.test(sql)) await amid?.();
    return answer;
  };
  const files = make({ query: watched, namespace, searchIndex: true, migrate: false });
  await plain.migrate({ searchIndex: false });
  await plain.migrate({ searchIndex: true });

  // What others write is searched, and taken by `migrate`.
  await plain.uploadFiles(some(200));
  await same(check, "files that others wrote are searched", files, plain);
  check("they are in no block", (await blocks(dialect, query, namespace)).files === 0);
  sent.length = 0;
  await files.grep("kelvin");
  const changes = sent.filter(([sql]) => /\b(?:INSERT|UPDATE|DELETE)\b/.test(sql));
  check("a search writes nothing", changes.length === 0, changes);
  await files.migrate();
  check("migrate takes them", (await blocks(dialect, query, namespace)).files === 200);
  await same(check, "then they are found", files, plain);

  // A writer takes what it wrote, and removes what it replaced.
  for (let edition = 1; edition <= 3; edition++) await files.uploadFiles(some(600, edition));
  const taken = await blocks(dialect, query, namespace);
  check("a writer takes its files", taken.files >= 600 - 256, taken);
  check("and removes blocks of which nothing is left", taken.files <= 1_200, taken);
  await same(check, "then they are found as well", files, plain);
  for (let n = 0; n < 300; n++) await files.edit(`/d${n % 7}/f${n}.txt`, " of 3", " of three");
  await same(check, "and after edits", files, plain, "of three");
  const edited = await blocks(dialect, query, namespace);
  check("of which the last few are in no block", edited.files > 300, edited);

  // What changes while a search runs is found as it was or as it is.
  await files.migrate();
  const before = await files.grep("retry_budget");
  const changed = before.matches.slice(0, 90).map(({ path }) => path);
  for (const [how, change] of [
    ["edited", () => Promise.all(changed.map((path) => plain.edit(path, "of ", "off ")))],
    ["edited, and taken", () => files.migrate()],
  ]) {
    let count = 0;
    amid = async () => {
      amid = undefined;
      for (const path of changed) {
        const { error } = await plain.edit(path, "retry_budget", "retry_budget_x");
        if (!error) count += 1;
      }
      await change();
    };
    const { matches } = await files.grep("retry_budget");
    const paths = new Set(matches.map(({ path }) => path));
    check(
      `${how} amid a search: it is found`,
      changed.every((path) => paths.has(path)),
      [count, changed.filter((path) => !paths.has(path))],
    );
    check(`${how} amid a search: they were`, count === changed.length, count);
  }

  // A backend that may not write: its statements fail, its searches do not.
  const reader = make({
    namespace,
    searchIndex: true,
    migrate: false,
    query: (sql, params) => {
      if (/^\s*(?:INSERT|UPDATE|DELETE|WITH RECURSIVE|CREATE)/.test(sql))
        throw new Error("no right");
      return query(sql, params);
    },
  });
  await same(check, "a reader without the right to write finds them", reader, plain);

  // What a rule hides is neither read nor a match, above the index and below.
  const hide = [{ operations: ["read"], paths: ["/d3/**"], mode: "deny" }];
  const ruled = withPolicy(files, { permissions: hide });
  check("a policy says that there is an index", ruled.capability.indexed === true);
  for (const [pattern, options] of [
    ["retry_budget", {}],
    ["RETRY_\\w+ \\d", { regex: true, ignoreCase: true }],
  ]) {
    sent.length = 0;
    const found = await ruled.grep(pattern, "/", null, null, { ...options, stats: true });
    const scan = await plain.grep(pattern, "/", null, null, options);
    const seen = scan.matches.filter(({ path }) => !path.startsWith("/d3/"));
    check(
      `${pattern}: hidden files do not match`,
      seen.length < scan.matches.length && shown(found) === shown({ matches: seen }),
      [found, seen],
    );
    check(
      `${pattern}: the index is asked`,
      sent.some(([sql]) => isOfIndex(sql)),
      sent,
    );
    const read = sent.filter(([sql]) => /, content FROM/.test(sql)).flatMap(([, params]) => params);
    const names = read.filter((value) => typeof value === "string" && value.startsWith("/"));
    check(`${pattern}: only what is shown is read`, names.length >= seen.length, names);
    check(
      `${pattern}: and nothing that is hidden`,
      !names.some((path) => path.startsWith("/d3/")),
      names,
    );
  }

  // Several at once: no write fails, and no file is missed.
  const many = [0, 1, 2, 3].map(() =>
    make({ query, namespace, searchIndex: true, migrate: false }),
  );
  const answers = await Promise.all([
    ...many.map((one, n) => one.uploadFiles(some(700, n))),
    ...many.map(async (one, n) => one.edit(`/d${n}/f${n}.txt`, " of ", " from ")),
    ...many.map((one) => one.migrate({ searchIndex: true })),
    ...many.map((one) => one.grep("kelvin")),
  ]);
  const errors = answers.flat().filter((one) => one?.error && one.code !== "invalid_argument");
  check("no write of several at once fails", errors.length === 0, errors);
  for (const word of [...words, " of "]) {
    await same(check, `after several writers ${word} is found`, files, plain, word);
  }
  const names = rowsOf(await query(TABLES[dialect], [])).map(({ name }) => name);
  check("one index is left", names.filter((name) => /_index_/.test(name)).length === 1, names);

  await plain.migrate({ searchIndex: false });
  await older(check, { dialect, query, make, plain, files });
  await files.delete("/d0");
}

/** An index of an older form goes when there is a new one, and when none is wanted. */
async function older(check, { dialect, query, plain, files }) {
  const number = "00000000000000ff";
  const make =
    dialect === "sqlite"
      ? OLDER("files", number)
      : ["CREATE INDEX files_trigrams ON files (modified_at)"];
  for (const searchIndex of [true, false]) {
    for (const sql of make) await query(sql, []);
    await same(check, "beside an older index it scans", files, plain);
    await files.migrate({ searchIndex });
    const names = rowsOf(await query(TABLES[dialect], [])).map(({ name }) => name);
    const rest = names.filter((name) => /trigrams|search/.test(name));
    check("an older index is removed", rest.length === 0, rest);
    check("and a new one made", names.some((name) => /_grams_/.test(name)) === searchIndex, names);
    await same(check, "which is used", files, plain);
    await plain.write(`/d1/written-${searchIndex}.txt`, "retry_budget");
  }
}
