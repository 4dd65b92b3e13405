// `npm run simulate`: builds the simulator and runs it with the given options (`-- --help` lists
// them). `npm run simulate -- --page` serves the page that draws histories, on this machine only;
// `npm run simulate -- --index` runs the histories of a search index, `--turns` those of turns,
// `--adversary` agents that try to get round rules and labels, and `--scale` prints what searches of large buckets cost by the simulated clock.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { buildSimulator, buildSimulatorPage } from "./lib/simulation.mjs";

const options = process.argv.slice(2);
if (options.includes("--page")) {
  const files = await buildSimulatorPage();
  const server = createServer((request, response) => {
    const found = files[new URL(request.url ?? "/", "http://localhost").pathname];
    if (!found) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": found[0] }).end(found[1]);
  });
  server.listen(5174, "127.0.0.1", () => {
    console.log("The simulator is at http://127.0.0.1:5174/. Ctrl-C ends it.");
  });
} else {
  const programs = ["--index", "--turns", "--adversary", "--scale"];
  const named = options.find((option) => programs.includes(option));
  const program = await buildSimulator(named?.slice(2));
  const own = options.filter((option) => option !== named);
  const child = spawn(program, own, { stdio: "inherit" });
  child.once("close", (code) => {
    process.exitCode = code ?? 1;
  });
}
