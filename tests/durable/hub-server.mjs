// A Context Hub of the test's own: repos with commits, over HTTP on loopback, as far as the
// `langsmith` package's client speaks to it. A commit whose parent is not the newest is refused.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

export const KEY = "lsv2_secret_of_the_test";

export class HubServer {
  repos = new Map();
  commits = 0;
  refused = 0;
  /** Set to make the next requests fail with that status. */
  failing = 0;
  #server;

  static async start() {
    const hub = new HubServer();
    hub.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (part) => {
        body += part;
      });
      request.on("end", () => {
        const [status, answer] = hub.#answer(request, body);
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(answer));
      });
    });
    hub.#server.listen(0, "127.0.0.1");
    await once(hub.#server, "listening");
    hub.url = `http://127.0.0.1:${hub.#server.address().port}`;
    return hub;
  }

  async stop() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #answer(request, body) {
    if (request.headers["x-api-key"] !== KEY) return [401, { detail: "unknown key" }];
    if (this.failing) return [this.failing, { detail: `told to fail, ${KEY} and all` }];
    const { pathname } = new URL(request.url, "http://hub");
    const asked = `${request.method} ${pathname}`;
    if (asked === "GET /settings") return [200, { id: "tenant-1", tenant_handle: "acme" }];
    if (asked === "POST /repos/" || asked === "POST /repos") {
      const { repo_handle: name } = JSON.parse(body);
      if (this.repos.has(name)) return [409, { detail: "it exists" }];
      this.repos.set(name, { files: {}, commits: [] });
      return [200, { repo: { repo_handle: name } }];
    }
    const plain = /^GET \/repos\/([^/]+)\/([^/]+)$/.exec(asked);
    if (plain) return this.repos.has(plain[2]) ? [200, { repo: {} }] : [404, { detail: "no repo" }];
    const found =
      /^(GET|POST) \/v1\/platform\/hub\/repos\/([^/]+)\/([^/]+)\/directories(\/commits)?$/.exec(
        asked,
      );
    if (!found) return [404, { detail: `nothing at ${asked}` }];
    const repo = this.repos.get(decodeURIComponent(found[3]));
    if (!repo) return [404, { detail: "no repo" }];
    const newest = repo.commits.at(-1);
    if (found[1] === "GET") {
      if (!newest) return [404, { detail: "no commits" }];
      return [200, { commit_id: newest, commit_hash: newest, files: repo.files }];
    }
    const { files, parent_commit: parent } = JSON.parse(body);
    const stale =
      newest === undefined ? parent !== undefined : !parent || !newest.startsWith(parent);
    if (stale) {
      this.refused += 1;
      return [409, { detail: "the parent is not the newest commit" }];
    }
    const after = new Map(Object.entries(repo.files));
    for (const [key, entry] of Object.entries(files)) {
      if (entry === null) after.delete(key);
      else after.set(key, entry);
    }
    repo.files = Object.fromEntries(after);
    this.commits += 1;
    const hash = createHash("sha256").update(`${newest}${this.commits}${body}`).digest("hex");
    repo.commits.push(hash);
    return [200, { commit: { id: hash, commit_hash: hash } }];
  }
}
