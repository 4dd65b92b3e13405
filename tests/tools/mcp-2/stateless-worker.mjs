// A Worker without sessions, which serves an R2 bucket by version 2 of the MCP SDK: `/mcp` the bucket, `/review` a turn
// over it that asks before it commits, `/state` a `StateBackend`. What begins with `/other` goes to another isolate.

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { R2Backend, StateBackend } from "kitbag";
import { beginKept, changeTools } from "kitbag/history";
import { elicitReview, registerFileTools } from "kitbag/mcp";

const state = new StateBackend({ files: {}, scope: "instance", writeMode: "overwrite" });

function served(register) {
  return createMcpHandler(() => {
    const server = new McpServer({ name: "worker", version: "1" });
    register(server);
    return server;
  });
}

export default {
  fetch(request, { BUCKET, KEY, OTHER }) {
    const url = new URL(request.url);
    if (url.pathname.startsWith("/other/")) {
      url.pathname = url.pathname.slice("/other".length);
      return OTHER.fetch(new Request(url, request));
    }
    const bucket = new R2Backend({ bucket: BUCKET, writeMode: "overwrite" });
    const ways = {
      "/mcp": (server) => registerFileTools(server, bucket, { structured: true }),
      "/state": (server) => registerFileTools(server, state),
      "/review": (server) => {
        const turn = beginKept(bucket, { keepIn: { backend: bucket }, name: "task" });
        const changes = changeTools({ commit: elicitReview(server, { key: KEY }) });
        registerFileTools(server, turn, { changes });
      },
    };
    const way = ways[url.pathname];
    return way ? served(way).fetch(request) : new Response(null, { status: 404 });
  },
};
