// The worst bodies that WebDAV takes: reading them, and what they change, takes at most a second of work.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "../lib/kitbag.mjs";
import { slow } from "../lib/work.mjs";
import { serveFiles } from "./lib.mjs";

/** Bytes of a body. */
const BODY = 262_144;
/** Seconds of work. */
const MOST = 1;

const filled = (head, piece, end, most = BODY) => {
  let text = head;
  for (let at = 0; ; at++) {
    const one = piece(at);
    if (text.length + one.length + end.length > most) return text + end;
    text += one;
  }
};

const FIND = ['<D:propfind xmlns:D="DAV:"><D:prop>', "</D:prop></D:propfind>"];
const SET = [
  '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>',
  "</D:prop></D:set></D:propertyupdate>",
];
const REMOVE = [
  '<D:propertyupdate xmlns:D="DAV:"><D:remove><D:prop>',
  "</D:prop></D:remove></D:propertyupdate>",
];
const prefixes = (count) =>
  Array.from({ length: count }, (_, at) => `xmlns:p${at}="u:${at}"`).join(" ");
const within = ([head, end], piece) => filled(head, piece, end);

/** By name: the method and the body. */
const BODIES = {
  "names of properties": ["PROPFIND", within(FIND, (at) => `<a${at}/>`)],
  "one name": ["PROPFIND", within(FIND, () => "<a/>")],
  "properties of the file": ["PROPFIND", within(FIND, () => "<D:getetag/>")],
  "elements that are closed": ["PROPFIND", within(FIND, () => "<a></a>")],
  entities: ["PROPFIND", within(FIND, () => "&amp;")],
  "letters by number": ["PROPFIND", within(FIND, () => "&#x10FFFF;")],
  comments: ["PROPFIND", within(FIND, () => "<!---->")],
  "a comment": ["PROPFIND", filled(`${FIND[0]}<!--`, () => "- ", `-->${FIND[1]}`)],
  "literal texts": ["PROPFIND", within(FIND, () => "<![CDATA[]]>")],
  attributes: ["PROPFIND", filled(`${FIND[0]}<a`, (at) => ` a${at}=""`, `/>${FIND[1]}`)],
  "namespaces of one element": [
    "PROPFIND",
    filled(`${FIND[0]}<a`, (at) => ` xmlns:a${at}="u"`, `/>${FIND[1]}`),
  ],
  "spaces without an attribute": ["PROPFIND", filled("<D:propfind", () => " ", "<")],
  "a name without an end": ["PROPFIND", filled("<", () => "a", "")],
  "a quote without an end": ["PROPFIND", within(FIND, () => "<a b='")],
  brackets: ["PROPFIND", within(FIND, () => "]]&gt;")],
  "properties that are removed": ["PROPPATCH", within(REMOVE, (at) => `<a${at}/>`)],
  "properties that are set": ["PROPPATCH", within(SET, (at) => `<a${at}/>`)],
  "one property, again and again": ["PROPPATCH", within(SET, () => "<a/>")],
  "properties that stay": ["PROPPATCH", within(SET, () => "<D:getetag/>")],
  "properties with what is around them": [
    "PROPPATCH",
    within(
      [`<D:propertyupdate xmlns:D="DAV:" ${prefixes(200)}><D:set><D:prop>`, SET[1]],
      () => "<a/>",
    ),
  ],
  "different properties with what is around them": [
    "PROPPATCH",
    within(
      [`<D:propertyupdate xmlns:D="DAV:" ${prefixes(200)}><D:set><D:prop>`, SET[1]],
      (at) => `<a${at}/>`,
    ),
  ],
};

const backend = new StateBackend({ files: { "/a": "1" } });

/** A server whose file has as many properties as there may be. */
async function server() {
  const handle = serveFiles(() => backend, { webdav: true });
  const send = (method, body) => {
    const headers = { depth: "0" };
    return handle(new Request("http://files.example/a", { method, body, headers }));
  };
  let stored = 0;
  for (let status = 207; status === 207; stored += 1) {
    const body = filled(SET[0], (n) => `<b${stored}x${n}/>`, SET[1], 16_384);
    const answer = await send("PROPPATCH", body);
    await answer.text();
    status = answer.status;
  }
  assert.ok(stored > 5, `${stored}`);
  return send;
}

test(`the worst bodies take at most ${MOST} s of work`, async () => {
  const send = await server();
  const calls = Object.entries(BODIES).map(([name, [method, body]]) => [
    name,
    async () => {
      const answer = await send(method, body);
      assert.ok([207, 400, 403, 413, 507].includes(answer.status), `${answer.status}`);
      await answer.text();
    },
  ]);
  assert.ok(calls.every(([name]) => BODIES[name][1].length <= BODY));
  const all = [["all properties", async () => (await send("PROPFIND")).text()], ...calls];
  assert.deepEqual(await slow(Object.fromEntries(all), MOST, "webdav"), []);
});

test("of a property that is set and removed several times in one request, the last counts", async () => {
  const handle = serveFiles(() => new StateBackend({ files: { "/a": "1" } }), { webdav: true });
  const send = (method, body) =>
    handle(new Request("http://files.example/a", { method, body, headers: { depth: "0" } }));
  const one = (kind, xml) => `<D:${kind}><D:prop>${xml}</D:prop></D:${kind}>`;
  const update = (...parts) =>
    send("PROPPATCH", `<D:propertyupdate xmlns:D="DAV:">${parts.join("")}</D:propertyupdate>`);
  const shown = async () => (await send("PROPFIND")).text();
  await update(one("set", "<a>1</a>"), one("set", "<a>2</a><b>3</b>"));
  assert.match(await shown(), /<a [^>]*>2<\/a><b [^>]*>3<\/b>/);
  assert.doesNotMatch(await shown(), />1<\/a>/);
  await update(
    one("remove", "<a/>"),
    one("set", "<a>4</a>"),
    one("set", "<b>5</b>"),
    one("remove", "<b/>"),
  );
  assert.match(await shown(), />4<\/a>/);
  assert.doesNotMatch(await shown(), /<b/);
});
