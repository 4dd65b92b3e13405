// A JavaScript component joined with kitbag and kitbag-wasi answers requests under jco: files, tools, rules, and nothing
// outside of the directory that is open to it.

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { COMPONENT, interfacesOf, validate, WASI } from "../../scripts/lib/component.mjs";
import { composed } from "../../scripts/lib/compose.mjs";
import { EDGE, edge, served } from "./edge.mjs";

const top = fs.mkdtempSync(join(tmpdir(), "kitbag-edge-"));
const data = join(top, "data");
const servers = [];
before(async () => {
  fs.mkdirSync(data);
  await edge();
  servers.push(...(await Promise.all([served(data), served(data)])));
});
after(async () => {
  await Promise.all(servers.map(({ stop }) => stop()));
  fs.rmSync(top, { recursive: true, force: true });
});

async function ask(path, options = {}, { url } = servers[0]) {
  const answer = await fetch(url + path, { signal: AbortSignal.timeout(60_000), ...options });
  return { status: answer.status, text: await answer.text() };
}
const put = (path, body, server) => ask(path, { method: "PUT", body }, server);
const call = async (...calls) => {
  const body = JSON.stringify(calls.map(([name, given]) => ({ name, arguments: given })));
  const { status, text } = await ask("/tools", { method: "POST", body });
  assert.equal(status, 200, text);
  return JSON.parse(text);
};
const codeOf = ({ text }) => JSON.parse(text).code;

describe("the joined component", () => {
  test("is valid, imports WASI alone and answers HTTP", async () => {
    const bytes = fs.readFileSync(EDGE);
    await validate(bytes);
    const { imports, exports } = await interfacesOf(bytes);
    assert.deepEqual(exports, ["wasi:http/incoming-handler@0.2.10"]);
    assert.deepEqual(
      imports.filter((name) => !name.startsWith("wasi:")),
      [],
    );
    for (const name of ["filesystem/types@0.2.12", "random/random@0.2.12", "http/types@0.2.10"]) {
      assert.ok(imports.includes(`wasi:${name}`), name);
    }
  });

  test("a part whose imports nobody exports is refused with their names", async () => {
    const [kitbag, wasi] = [COMPONENT, WASI].map((file) => fs.readFileSync(file));
    await assert.rejects(
      composed([kitbag]),
      /no part before exports .*kitbag:files\/storage@0.1.0/,
    );
    await assert.rejects(composed([kitbag, wasi]), /no part before exports/);
  });
});

describe("a request", () => {
  test("writes a file of the directory, reads, searches and deletes it", async () => {
    const text = "first line\nsecond \u{1f600} line\n";
    assert.deepEqual(await put("/folder/a/notes.txt", text), {
      status: 201,
      text: "/folder/a/notes.txt",
    });
    assert.equal(fs.readFileSync(join(data, "a/notes.txt"), "utf8"), text);
    assert.equal((await put("/folder/a/notes.txt", "other")).status, 409);
    fs.writeFileSync(join(data, "a/more.txt"), "no\na second line of another program");
    assert.deepEqual(await ask("/folder/a/notes.txt"), { status: 200, text });
    const found = JSON.parse((await ask("/search?for=second")).text);
    assert.deepEqual(found, [
      { path: "/folder/a/more.txt", line: 2, text: "a second line of another program" },
      { path: "/folder/a/notes.txt", line: 2, text: "second \u{1f600} line" },
    ]);
    assert.equal((await ask("/folder/a/notes.txt", { method: "DELETE" })).status, 200);
    assert.deepEqual(fs.readdirSync(join(data, "a")), ["more.txt"]);
    const gone = await ask("/folder/a/notes.txt");
    assert.deepEqual([gone.status, codeOf(gone)], [404, "not-found"]);
  });

  test("calls tools as a model would, in the directory and in memory", async () => {
    const told = await call(
      ["write_file", { file_path: "/folder/t.txt", content: "one\n" }],
      ["write_file", { file_path: "/scratch.txt", content: "in memory\n" }],
      ["edit_file", { file_path: "/folder/t.txt", old_string: "one", new_string: "two" }],
      ["read_file", { file_path: "/folder/t.txt" }],
      ["ls", { path: "/" }],
      ["grep", { pattern: "memory" }],
      ["read_file", { path: 7 }],
    );
    assert.match(told[2], /t\.txt/);
    assert.match(told[3], /two/);
    assert.match(told[4], /\/folder\/[\s\S]*\/scratch\.txt \(10 bytes\)/);
    assert.match(told[5], /scratch\.txt/);
    assert.match(told[6], /file_path/);
    assert.equal(fs.readFileSync(join(data, "t.txt"), "utf8"), "two\n");
    const [later] = await call(["ls", { path: "/" }]);
    assert.doesNotMatch(later, /scratch/, "memory is that of one request");
  });

  test("is refused what rules forbid", async () => {
    fs.mkdirSync(join(data, "secret"));
    fs.mkdirSync(join(data, "fixed"));
    fs.writeFileSync(join(data, "secret/key.txt"), "treasure");
    fs.writeFileSync(join(data, "fixed/law.txt"), "law");
    for (const answer of [
      await ask("/folder/secret/key.txt"),
      await put("/folder/secret/new.txt", "x"),
      await put("/folder/fixed/new.txt", "x"),
      await ask("/folder/fixed/law.txt", { method: "DELETE" }),
    ]) {
      assert.deepEqual([answer.status, codeOf(answer)], [403, "permission-denied"]);
    }
    assert.equal((await ask("/search?for=treasure")).text, "[]");
    assert.deepEqual(await ask("/folder/fixed/law.txt"), { status: 200, text: "law" });
    assert.deepEqual(fs.readdirSync(join(data, "secret")), ["key.txt"]);
  });

  test("of more than a file may have is refused, and nothing of it stays", async () => {
    const answer = await put("/folder/large.bin", Buffer.alloc((1 << 20) + 1));
    assert.deepEqual([answer.status, codeOf(answer)], [413, "too-large"]);
    assert.ok(!fs.existsSync(join(data, "large.bin")));
  });

  test("gets nothing that is outside of the directory", async () => {
    const outside = join(top, "outside");
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, "prey.txt"), "prey");
    const links = { out: outside, file: join(outside, "prey.txt"), passwd: "/etc/passwd" };
    for (const [name, target] of Object.entries(links)) fs.symlinkSync(target, join(data, name));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${data}/odd`), Buffer.from([0xff])]), "prey");
    const paths = [
      ...["out/prey.txt", "file", "passwd", "%2e%2e/outside/prey.txt", "..%2f..%2fetc%2fpasswd"],
      ...["..%5coutside%5cprey.txt", "a%00b", "%2fetc%2fpasswd"],
    ];
    for (const path of paths) {
      const answer = await ask(`/folder/${path}`);
      assert.match(`${answer.status}`, /^(400|403|404)$/, path);
      assert.doesNotMatch(answer.text, /prey"|root:/, path);
    }
    for (const path of ["out/new.txt", "..%2foutside%2fnew.txt", "..%5cnew.txt"]) {
      assert.match(`${(await put(`/folder/${path}`, "x")).status}`, /^(400|403)$/, path);
    }
    assert.equal((await ask("/search?for=prey")).text, "[]");
    assert.deepEqual(
      [fs.readdirSync(outside), fs.readdirSync(top).sort()],
      [["prey.txt"], ["data", "outside"]],
    );
  });
});

test("of two servers that create the same file at once, one wins", async () => {
  for (let round = 0; round < 6; round += 1) {
    const path = `/folder/race/${round}.txt`;
    const bodies = servers.map((_, at) => `by ${at} `.repeat(20_000));
    const answers = await Promise.all(servers.map((server, at) => put(path, bodies[at], server)));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual([...statuses].sort(), [201, 409]);
    const stored = fs.readFileSync(join(data, `race/${round}.txt`), "utf8");
    assert.ok(stored === bodies[statuses.indexOf(201)]);
  }
  assert.equal(fs.readdirSync(join(data, "race")).length, 6, "and nothing else stays");
});
