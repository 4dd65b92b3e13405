// Child processes. Each leads a new process group and is ended by the id of that group, so that
// nothing it started survives, and no other process is affected.

import { spawn } from "node:child_process";
import { root } from "./paths.mjs";

const running = new Set();

/** Ends a child and everything it started. */
export function end(child, signal = "SIGKILL") {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

let watching = false;

/** Makes sure that the children end with this process. */
function watch() {
  if (watching) return;
  watching = true;
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ]) {
    process.once(signal, () => {
      for (const child of running) end(child);
      process.exit(code);
    });
  }
  process.once("exit", () => {
    for (const child of running) end(child);
  });
}

/** Starts a command as the leader of a new process group. */
export function start(command, args = [], options = {}) {
  watch();
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    env: { ...process.env, ...options.env },
    detached: true,
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  child.once("error", () => running.delete(child));
  return child;
}

/**
 * Runs a command and returns `{ code, output, timedOut }`; never throws if the command fails.
 * `show` also prints its output; `timeoutMs` ends it with everything it started.
 */
export function run(command, args = [], { show = false, timeoutMs, input, ...options } = {}) {
  return new Promise((resolve) => {
    const stdio = [input === undefined ? "ignore" : "pipe", "pipe", "pipe"];
    const child = start(command, args, { ...options, stdio });
    let output = "";
    let timedOut = false;
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            end(child);
          }, timeoutMs);
    const take = (stream) => (chunk) => {
      output += chunk;
      if (show) stream.write(chunk);
    };
    child.stdout.setEncoding("utf8").on("data", take(process.stdout));
    child.stderr.setEncoding("utf8").on("data", take(process.stderr));
    if (input !== undefined) child.stdin.end(input);
    child.once("error", (error) => {
      clearTimeout(timer);
      resolve({ code: 127, output: `${command}: ${error.message}\n`, timedOut: false });
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      // Processes that the command left behind in its group are ended too.
      end(child);
      resolve({ code: code ?? (signal ? 1 : 0), output, timedOut });
    });
  });
}

/** Runs a command that must succeed. Returns its output; the Error of a failure ends with it. */
export async function must(command, args = [], options = {}) {
  const { code, output, timedOut } = await run(command, args, options);
  if (code === 0 && !timedOut) return output;
  const why = timedOut ? `took over ${options.timeoutMs} ms` : `ended with code ${code}`;
  const shown = options.show ? "" : `\n${output.slice(-4000)}`;
  throw new Error(`${[command, ...args].join(" ")} ${why}${shown}`);
}
