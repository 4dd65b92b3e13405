// How long a suite has had, and what it waits for: its processes, as Linux's `/proc` shows them. Other
// systems have no such files; there the clock counts, and nothing is said of processes.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { results } from "./paths.mjs";

/** Arguments for a process of Node that shall tell what it waits for. */
export const REPORTING = [
  "--report-on-signal",
  "--report-signal=SIGUSR2",
  `--report-directory=${results("reports")}`,
];

/** A file of `/proc`, or undefined if the process has ended. */
function read(...path) {
  try {
    return readFileSync(join("/proc", ...path), "utf8");
  } catch {
    return undefined;
  }
}

function list(...path) {
  try {
    return readdirSync(join("/proc", ...path));
  } catch {
    return [];
  }
}

/** A process and all that it has started, as `{ pid, state, command }`. */
export function processesOf(root) {
  const children = new Map();
  const states = new Map();
  for (const pid of list().filter((name) => /^\d+$/.test(name))) {
    // Behind the name in parentheses: the state and the parent.
    const [state, parent] =
      read(pid, "stat")
        ?.replace(/^.*\) /s, "")
        .split(" ") ?? [];
    if (state === undefined) continue;
    states.set(pid, state);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [];
  const open = [String(root)];
  for (let pid = open.shift(); pid !== undefined; pid = open.shift()) {
    if (!states.has(pid)) continue;
    const words = (read(pid, "cmdline") ?? "").split(/[\0\s]+/);
    const command = words
      .filter((word) => !REPORTING.includes(word))
      .join(" ")
      .trim();
    found.push({ pid: Number(pid), state: states.get(pid), command });
    open.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** By thread: milliseconds for which it has run, and for which it was ready and waited for a processor. */
function timesOf(processes) {
  const times = new Map();
  for (const { pid } of processes) {
    for (const thread of list(String(pid), "task")) {
      const [ran, waited] = (read(String(pid), "task", thread, "schedstat") ?? "").split(" ");
      if (waited !== undefined) times.set(thread, { ran: ran / 1e6, waited: waited / 1e6 });
    }
  }
  return times;
}

/**
 * Of some milliseconds, those that count for work that ran so long in them, and that waited so long for
 * a processor: as many as it would have taken with nothing beside it. A sleep counts in full.
 */
export function counts(milliseconds, { ran, waited }) {
  const wanted = ran + waited;
  if (wanted === 0) return milliseconds;
  return milliseconds - (Math.min(milliseconds, wanted) * waited) / wanted;
}

/**
 * A clock for the processes of `root`: each call gives the milliseconds that they have had since it was
 * made, without the time for which others had the processors.
 */
export function clockOf(root) {
  let had = 0;
  let last = performance.now();
  let before = new Map();
  return () => {
    const now = performance.now();
    const times = timesOf(processesOf(root));
    const sum = { ran: 0, waited: 0 };
    for (const [thread, { ran, waited }] of times) {
      const old = before.get(thread) ?? { ran: 0, waited: 0 };
      sum.ran += ran - old.ran;
      sum.waited += waited - old.waited;
    }
    had += counts(now - last, sum);
    [last, before] = [now, times];
    return had;
  };
}

/** The tests of a log in TAP that have begun and not ended, the outermost first. */
export function unfinished(log) {
  const open = [];
  for (const line of log.split("\n")) {
    const [, indent, what, name] = /^( *)(# Subtest: |(?:not )?ok \d+ - )(.*)/.exec(line) ?? [];
    if (what === undefined) continue;
    while (open.length > 0 && open.at(-1).indent >= indent.length) open.pop();
    if (what.startsWith("#")) open.push({ indent: indent.length, name });
  }
  return open.map(({ name }) => name);
}

/** Bit 11 of the signals that a process handles: without a handler SIGUSR2 would end it. */
function reports({ pid }) {
  const caught = /^SigCgt:\s*(\w+)/m.exec(read(String(pid), "status") ?? "")?.[1] ?? "0";
  return (
    /\bnode\b/.test(read(String(pid), "comm") ?? "") && (BigInt(`0x${caught}`) & 0x800n) !== 0n
  );
}

function shownHandle({ type, is_active: active, is_referenced: referenced, ...rest }) {
  if (!active || !referenced) return undefined;
  const ends = [rest.localEndpoint, rest.remoteEndpoint].filter(Boolean);
  const shown = ends.map(({ host, port }) => `${host}:${port}`).join(" to ");
  const due =
    rest.firesInMsFromNow === undefined ? "" : `in ${Math.round(rest.firesInMsFromNow)} ms`;
  return [type, rest.pid && `of process ${rest.pid}`, shown, due].filter(Boolean).join(" ");
}

/** What a report of Node says: where JavaScript is, and the handles that keep the process. */
function shownReport({ javascriptStack, libuv }) {
  const stack = javascriptStack?.stack ?? [];
  const handles = (libuv ?? []).map(shownHandle).filter(Boolean);
  return [
    ...stack.slice(0, 5).map((line) => `  ${line}`),
    `  open: ${[...new Set(handles)].join(", ") || "nothing"}`,
  ];
}

/** What a process and all that it has started wait for, a line each. */
export async function waitsFor(root) {
  const processes = processesOf(root);
  const asked = new Set(processes.filter(reports).map(({ pid }) => pid));
  for (const pid of asked) {
    try {
      process.kill(pid, "SIGUSR2");
    } catch {
      // It has ended.
    }
  }
  // Reports are files, and nothing says when they are whole.
  if (asked.size > 0) await pause(1_000);
  const files = asked.size > 0 ? reportFiles() : new Map();
  const answer = (pid) => {
    if (files.has(pid)) return shownReport(files.get(pid));
    return asked.has(pid) ? ["  gives no report: its JavaScript runs on and on"] : [];
  };
  return processes.flatMap(({ pid, state, command }) => [
    `${state} ${pid} ${command.slice(0, 200)}`,
    ...answer(pid),
  ]);
}

/** The reports by process. They are removed, because they hold the variables of the environment. */
function reportFiles() {
  const found = new Map();
  const folder = results("reports");
  for (const name of readdirSync(folder)) {
    const pid = Number(/^report\.\d+\.\d+\.(\d+)\./.exec(name)?.[1]);
    try {
      found.set(pid, JSON.parse(readFileSync(join(folder, name), "utf8")));
    } catch {
      // It is not written to its end.
    }
    rmSync(join(folder, name), { force: true });
  }
  return found;
}
