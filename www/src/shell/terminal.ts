// A terminal with a shell over the tree: a line editor with history and completion of paths in front
// of just-bash, which runs one command at a time.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { announceChange } from "../tree/changes";
import { tree } from "../tree/mounts";
import { theme } from "../ui/theme";
import { ended, newMark, within } from "./directory";
import { loadShell } from "./lazy";
import "@xterm/xterm/css/xterm.css";

function colours(parent: HTMLElement) {
  const probe = document.createElement("i");
  parent.append(probe);
  const of = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const out = {
    background: of("surface"),
    foreground: of("text"),
    cursor: of("accent"),
    selectionBackground: of("line-strong"),
    green: of("good"),
    red: of("bad"),
    blue: of("memory"),
  };
  probe.remove();
  return out;
}

export interface Shell {
  /** Types a command and runs it; resolves when it has ended. */
  type(command: string): Promise<void>;
  focus(): void;
  close(): void;
}

export async function openShell(parent: HTMLElement): Promise<Shell> {
  const { bashExecute } = await loadShell();
  const terminal = new Terminal({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
    fontSize: 0.93 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
    lineHeight: 1.35,
    cursorBlink: true,
    convertEol: true,
    screenReaderMode: true,
    theme: colours(parent),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(parent);
  fit.fit();
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(parent);
  const unthemed = theme.subscribe(() => {
    terminal.options.theme = colours(parent);
  });

  let execute = bashExecute(tree.value);
  const untree = tree.subscribe((backend) => {
    execute = bashExecute(backend);
  });
  let cwd = "/work";
  let line = "";
  let at = 0;
  let busy: AbortController | undefined;
  /** What was typed while a command ran. */
  let ahead = "";
  const past: string[] = [];
  let shown = 0;

  /** Rows between the one where the prompt begins and the cursor: a long line takes several. */
  let above = 0;
  const prompt = () => {
    above = 0;
    terminal.write(`\u001b[34m${cwd}\u001b[0m $ `);
  };
  const redraw = () => {
    const { cols } = terminal;
    const before = `${cwd} $ `.length;
    const [end, here] = [before + line.length, before + at];
    const row = (place: number) => Math.floor(place / cols);
    const up = (rows: number) => (rows > 0 ? `\u001b[${rows}A` : "");
    // Behind the last letter of a row the cursor waits there: it is sent to the next one.
    const full = end % cols === 0 ? "\r\n" : "";
    const right = here % cols > 0 ? `\u001b[${here % cols}C` : "";
    terminal.write(
      `${up(above)}\r\u001b[J\u001b[34m${cwd}\u001b[0m $ ${line}${full}${up(row(end) - row(here))}\r${right}`,
    );
    above = row(here);
  };
  const set = (text: string) => {
    line = text;
    at = text.length;
    redraw();
  };

  async function run(command: string) {
    busy = new AbortController();
    at = line.length;
    redraw();
    terminal.write("\r\n");
    if (command.trim() === "clear") {
      terminal.clear();
    } else if (command.trim() !== "") {
      past.push(command);
      const mark = newMark();
      const { output, exitCode } = await execute(within(cwd, command, mark), {
        signal: busy.signal,
      });
      const { said, cwd: now = cwd } = ended(output, mark);
      cwd = now;
      if (said) terminal.write(said.endsWith("\n") ? said : `${said}\n`);
      if (exitCode !== 0) terminal.write(`\u001b[31mexit ${exitCode}\u001b[0m\n`);
      announceChange();
    }
    shown = past.length;
    line = "";
    at = 0;
    busy = undefined;
    prompt();
  }

  async function complete() {
    const word = /[^\s'"]*$/.exec(line.slice(0, at))?.[0] ?? "";
    const whole = word.startsWith("/") ? word : `${cwd === "/" ? "" : cwd}/${word}`;
    const directory = whole.slice(0, whole.lastIndexOf("/")) || "/";
    const { files = [] } = await tree.value.ls(directory);
    const fits = files.map(({ path }) => path).filter((path) => path.startsWith(whole));
    const [first = ""] = fits;
    let end = first.length;
    for (const path of fits) while (!path.startsWith(first.slice(0, end))) end -= 1;
    const more = first.slice(whole.length, end);
    if (!more && fits.length > 1) {
      const names = fits.map((path) => path.slice(directory === "/" ? 1 : directory.length + 1));
      terminal.write(`\r\n${names.join("  ")}\r\n`);
    }
    const tail = fits.length === 1 && !first.endsWith("/") ? `${more} ` : more;
    line = line.slice(0, at) + tail + line.slice(at);
    at += tail.length;
    redraw();
  }

  function recall(step: number) {
    shown = Math.max(0, Math.min(past.length, shown + step));
    set(past[shown] ?? "");
  }

  const KEYS: Record<string, () => void> = {
    "\u007f": () => {
      if (at === 0) return;
      line = line.slice(0, at - 1) + line.slice(at);
      at -= 1;
      redraw();
    },
    "\u001b[A": () => recall(-1),
    "\u001b[B": () => recall(1),
    "\u001b[C": () => {
      at = Math.min(line.length, at + 1);
      redraw();
    },
    "\u001b[D": () => {
      at = Math.max(0, at - 1);
      redraw();
    },
    "\u0001": () => {
      at = 0;
      redraw();
    },
    "\u0005": () => set(line),
    "\u0003": () => {
      terminal.write("^C\r\n");
      line = "";
      at = 0;
      prompt();
    },
    "\u000c": () => {
      terminal.clear();
      above = 0;
      redraw();
    },
    "\t": () => void complete(),
  };

  function typed(data: string) {
    if (busy) {
      if (data === "\u0003") busy.abort();
      else ahead += data;
      return;
    }
    const act = KEYS[data];
    if (act) return act();
    if (data.startsWith("\u001b")) return;
    const end = data.search(/[\r\n]/);
    const now = end < 0 ? data : data.slice(0, end);
    line = line.slice(0, at) + now + line.slice(at);
    at += now.length;
    redraw();
    if (end < 0) return;
    const later = data.slice(end + (data.startsWith("\r\n", end) ? 2 : 1));
    const done = run(line);
    ahead = later + ahead;
    void done.then(() => {
      const kept = ahead;
      ahead = "";
      if (kept) typed(kept);
    });
  }
  terminal.onData(typed);

  terminal.write("just-bash over the tree: pipes, awk, sed, jq. Tab completes paths.\n");
  prompt();
  return {
    type: async (command) => {
      if (busy) return;
      set(command);
      await run(command);
    },
    focus: () => terminal.focus(),
    close: () => {
      observer.disconnect();
      unthemed();
      untree();
      terminal.dispose();
    },
  };
}
