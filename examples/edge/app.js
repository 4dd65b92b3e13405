// Files over HTTP, in a component without `WebAssembly`: kitbag is another component, and this one calls it.
//
// - `/folder/NAME` is a file of the directory that the host has opened as `/data`: `GET` reads, `PUT` creates, `DELETE`
//   deletes
// - `GET /search?for=TEXT` searches
// - `POST /tools` calls tools as a model would, one after the other: `[{ "name": …, "arguments": … }]`. What they write
//   elsewhere than in `/folder` is in memory, and gone after the request: each has an instance of its own

import { Backend } from "kitbag:files/backends@0.1.0";
import { ToolSet } from "kitbag:files/tools@0.1.0";
import { open } from "kitbag:wasi/folders@0.1.0";

const STATUS = {
  "not-found": 404,
  "already-exists": 409,
  conflict: 409,
  "permission-denied": 403,
  "too-large": 413,
  "quota-exceeded": 507,
  unavailable: 503,
  internal: 500,
};

/** Nobody changes `/folder/fixed`, and nobody sees `/folder/secret`. */
const POLICY = {
  switches: {},
  readOnlyPrefixes: ["/folder/fixed"],
  permissions: [
    { operations: { read: true, write: true }, paths: ["/folder/secret/**"], mode: "deny" },
  ],
  rates: [],
};

/** Files and tools. Before a request no other component can be called: its start is a part of this one. */
function kitbag() {
  const how = { writeMode: "create", fileFormat: "v2" };
  const memory = Backend.state({ ...how, maxBytes: 64n << 20n });
  const folder = Backend.lent(open("/data", 1n << 20n), how);
  const tree = Backend.composite(memory, [{ prefix: "/folder", backend: folder }]);
  const files = tree.withPolicy(POLICY);
  const tools = ToolSet.create({
    descriptions: [],
    resultTokens: { tag: "usual" },
    editsUnread: false,
  });
  return { files, tools };
}

function search(files, text) {
  const query = { pattern: text, before: 0, after: 0, switches: {} };
  const found = files
    .grep(query)
    .files.flatMap(({ path, text: lines, numbers }) =>
      lines.split("\n").map((line, at) => ({ path, line: numbers[at], text: line })),
    );
  return Response.json(found);
}

async function answer(request) {
  const { pathname, searchParams } = new URL(request.url);
  const path = decodeURIComponent(pathname);
  const { files, tools } = kitbag();
  if (path === "/search") return search(files, searchParams.get("for") ?? "");
  if (path === "/tools") {
    const calls = await request.json();
    const told = calls.map(({ name, arguments: given }, id) =>
      tools.call(files, name, JSON.stringify(given), String(id)),
    );
    return Response.json(told.map(({ blocks }) => blocks.map(({ val }) => val).join("\n")));
  }
  switch (request.method) {
    case "GET": {
      const { content } = files.readRaw(path);
      return new Response(content.val);
    }
    case "PUT": {
      const val = new Uint8Array(await request.arrayBuffer());
      return new Response(files.write(path, { tag: "bytes", val }), { status: 201 });
    }
    case "DELETE":
      return new Response(files.delete(path));
    default:
      return new Response("GET, PUT and DELETE are known here", { status: 405 });
  }
}

addEventListener("fetch", (event) => {
  const refused = (thrown) => {
    // An error of kitbag has a code; another one is a mistake of this program.
    const error = thrown?.payload ?? thrown;
    const status = STATUS[error?.code] ?? (error?.code ? 400 : 500);
    return Response.json({ code: error?.code, error: String(error?.message) }, { status });
  };
  event.respondWith(answer(event.request).catch(refused));
});
