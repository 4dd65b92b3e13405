// What is done with a backend on every host: the shared suite, writers in each other's way, nasty
// keys, directories of many files, pages of a large text. Each gets `make(options)`, which makes
// a backend, and answers with plain data.

/** The case whose path leaves no byte of a key for a prefix. */
const LONGEST = "a path of 1,024 bytes is the longest";

/** The shared suite, each case under a prefix of its own: what failed, and how many held. */
async function suite(make, { runConformance, turns }) {
  let turn = 0;
  const under = ({ writeMode }) => {
    turn += 1;
    return make({ prefix: `case ${turn}/+`, writeMode });
  };
  const except = { [LONGEST]: "needs every byte of a key" };
  const most = await runConformance(under, { except, turns });
  const longest = await runConformance(() => make({}), { only: [LONGEST] });
  return {
    failures: [...most.failures, ...longest.failures].map((text) => text.slice(0, 600)),
    passed: most.passed + longest.passed,
    longest: longest.passed,
    leftOut: most.leftOut,
  };
}

/** Eight clients, fifty edits each of one file: what went wrong, and which lines are there. */
async function edits(make) {
  const clients = Array.from({ length: 8 }, () => make({ prefix: "edits" }));
  const errors = [];
  const note = ({ error }) => error === undefined || errors.push(error);
  note(await clients[0].write("/log.txt", "end"));
  await Promise.all(
    clients.map(async (client, who) => {
      for (let turn = 0; turn < 50; turn++) {
        note(await client.edit("/log.txt", "end", `${who}.${turn}\nend`));
      }
    }),
  );
  const { content = "" } = await clients[0].read("/log.txt", 0, 1000);
  const lines = content.trimEnd().split("\n");
  return { errors, lines: lines.length, different: new Set(lines).size };
}

/** Sixteen clients create one file, five times over: the winners, and what the others were told. */
async function creates(make) {
  const clients = Array.from({ length: 16 }, () => make({ prefix: "creates" }));
  await Promise.all(clients.map((client, who) => client.write(`/probe/${who}.txt`, "x")));
  const winners = [];
  const codes = new Set();
  for (let round = 0; round < 5; round++) {
    const path = `/race${round}.txt`;
    const answers = await Promise.all(clients.map((c, who) => c.write(path, `writer ${who}`)));
    const won = answers.flatMap((answer, who) => (answer.error === undefined ? [who] : []));
    const { content } = await clients[0].read(path);
    winners.push(won.length === 1 && content === `writer ${won[0]}` ? 1 : won);
    for (const { code } of answers) if (code) codes.add(code);
  }
  return { winners, codes: [...codes] };
}

const NASTY = [
  "a b",
  " lead and trail ",
  "a+b",
  "100%",
  "%41%2F",
  "?q=1&r=2",
  "#frag",
  "日本/語 é",
  "e\u0301 decomposed",
  "😀",
  "&<>'\"",
  "~x",
  "a=b&c;d,e",
  "__proto__",
  "constructor/toString",
  "(x)[y]{z}|^`$@!*",
  ".hidden/..x/...",
];

/** With the prefix `names/` keys of a thousand bytes, of one byte a letter and of two. */
const LONG = ["k".repeat(994), "é".repeat(497)];

/** Nasty keys written, read, edited, found and removed; nothing may be wrong. */
async function names(make) {
  const s3 = make({ prefix: "names" });
  const wrong = [];
  const right = (what, holds, answer) => {
    if (!holds) wrong.push(`${what}: ${JSON.stringify(answer)}`.slice(0, 500));
  };
  const paths = [...NASTY.map((key) => `/dir/${key}`), ...LONG.map((key) => `/${key}`)];
  for (const path of paths) {
    const written = await s3.write(path, path);
    right(`write ${path}`, written.error === undefined, written);
    const read = await s3.read(path);
    right(`read ${path}`, read.content === path, read);
    const edited = await s3.edit(path, path, `${path} edited`);
    right(`edit ${path}`, edited.error === undefined, edited);
  }
  const listed = await s3.glob("**");
  const found = (listed.files ?? []).map(({ path }) => path).sort();
  right("glob", JSON.stringify(found) === JSON.stringify([...paths].sort()), listed);
  const grep = await s3.grep(" edited");
  right("grep", grep.matches?.length === paths.length, grep);
  for (const path of ["/dir", ...LONG.map((key) => `/${key}`)]) {
    const gone = await s3.delete(path);
    right(`delete ${path}`, gone.error === undefined, gone);
  }
  const left = await s3.glob("**");
  right("nothing is left", left.files?.length === 0, left);
  return wrong;
}

/** Over a thousand files in one directory. */
async function many(make) {
  const s3 = make({ prefix: "many" });
  const files = Array.from({ length: 1203 }, (_, at) => [`/dir/${at}.txt`, new Uint8Array([at])]);
  const uploads = await s3.uploadFiles(files);
  const listed = await s3.glob("dir/*");
  const gone = await s3.delete("/dir");
  const left = await s3.glob("**");
  return {
    uploaded: uploads.filter(({ error }) => error === null).length,
    listed: listed.files?.length,
    refused: gone.error ?? null,
    left: left.files?.length,
  };
}

const LINES = 40_000;
const line = (at) => `line ${at}: é and more that makes a text of over two megabytes`;

/**
 * Pages of a text of over two megabytes: `moved()` tells how many bytes came since the last time.
 * Answers with what is wrong.
 */
async function pages(make, moved) {
  const text = `${Array.from({ length: LINES }, (_, at) => line(at)).join("\n")}\n`;
  const size = new TextEncoder().encode(text).length;
  const wrong = [];
  const written = await make({ prefix: "pages" }).write("/large.txt", text);
  if (written.error !== undefined) return [written.error];
  // Answers have headers too.
  const PART = 64 * 1024 + 2048;
  const s3 = make({ prefix: "pages" });
  await moved();
  for (const [offset, limit, least, most] of [
    // The first page is one part.
    [0, 500, 64 * 1024, PART],
    // On the way to one far behind, everything before it is passed.
    [30_000, 500, (size * 3) / 4, size],
    // Where it stands is known from then on.
    [29_000, 200, 1, PART],
    [12_345, 200, 1, PART],
    [0, 10, 1, PART],
    [39_990, 500, 1, size / 3],
    [40_000, 500, 0, PART],
  ]) {
    const read = await s3.read("/large.txt", offset, limit);
    const end = Math.min(offset + limit, LINES);
    const wanted = Array.from({ length: end - offset }, (_, at) => line(offset + at)).join("\n");
    const atEnd = end === LINES && end > offset;
    const told = [read.content, read.totalLines, read.startLine, read.endLine, read.nextOffset];
    const right = [
      `${wanted}${atEnd ? "\n" : ""}`,
      LINES,
      offset + 1,
      end,
      atEnd ? undefined : end,
    ];
    if (offset >= LINES) right.splice(0, 5, "", ...Array(4));
    const bytes = await moved();
    if (bytes < least || bytes > most) wrong.push(`${offset}: ${bytes} bytes moved`);
    if (JSON.stringify(told) !== JSON.stringify(right)) {
      wrong.push(`${offset}: ${JSON.stringify([read.content?.length, ...told.slice(1)])}`);
    }
  }
  return wrong;
}

const MIB = 1 << 20;

/** A file in parts of all bytes, beside a reader that sees the old or the new one; what is wrong. */
async function uploads(make) {
  const wrong = [];
  const right = (what, holds, answer) => {
    if (!holds) wrong.push(`${what}: ${JSON.stringify(answer)}`.slice(0, 500));
  };
  const s3 = make({ prefix: "uploads" });
  const bytes = new Uint8Array(17 * MIB + 5).map((_, at) => at % 251);
  const same = (content) =>
    content?.length === bytes.length && content.every((byte, at) => byte === at % 251);
  const piecesOf = (end) => {
    let at = 0;
    const pull = (to) => {
      if (at >= end) return to.close();
      to.enqueue(bytes.slice(at, Math.min(end, at + 300_000)));
      at += 300_000;
    };
    return { size: bytes.length, stream: () => new ReadableStream({ pull }) };
  };
  for (const [name, given] of [
    ["a Blob", new Blob([bytes])],
    ["a stream", piecesOf(bytes.length)],
  ]) {
    const path = `/${name}/film 1.mp4`;
    await s3.write(path, "before");
    const [answer] = await s3.uploadFiles([[path, given]]);
    right(name, answer.error === null, answer);
    const [back] = await make({ prefix: "uploads" }).downloadFiles([path]);
    right(`${name} comes back`, same(back.content), [back.code, back.content?.length]);
    const { data, part } = await s3.readRaw(path, { start: 9 * MIB, end: 9 * MIB + 3 });
    right(
      `a part of ${name}`,
      part?.size === bytes.length && data.content[0] === (9 * MIB) % 251,
      part,
    );
    right("its type", data.mimeType === "video/mp4", data.mimeType);
    const edited = await s3.append(path, "!");
    right("more is added", edited.error === undefined, edited);
  }
  const [torn] = await s3.uploadFiles([["/torn.bin", piecesOf(12 * MIB)]]);
  right("a torn one fails", torn.code === "unavailable", torn);
  const left = await s3.glob("**");
  right("nothing is left of it", left.files?.length === 2, left.files);
  return wrong;
}

/** What every host does, by name. */
export const work = { suite, edits, creates, names, many, pages, uploads };

/** What each of these must answer; `suite` apart, whose number of cases is not fixed. */
const WANTED = {
  edits: { errors: [], lines: 401, different: 401 },
  creates: { winners: [1, 1, 1, 1, 1], codes: ["already_exists"] },
  names: [],
  many: { uploaded: 1203, listed: 1203, refused: null, left: 0 },
  pages: [],
  uploads: [],
};

/** Checks what one of these answered. */
export function held(assert, what, answer) {
  if (what !== "suite") return assert.deepEqual(answer, WANTED[what], what);
  assert.deepEqual(answer.failures, []);
  assert.ok(answer.passed > 100, `${answer.passed} cases`);
  assert.ok(!answer.leftOut.some((name) => /turn|commit|undo|rebase/.test(name)), answer.leftOut);
  assert.equal(answer.longest, 1);
}
