// A terminal over the same tree.

import { useEffect, useRef } from "preact/hooks";
import { samples } from "../code/samples";
import { openShell, type Shell } from "../shell/terminal";
import { CodeAside } from "../ui/code";
import { Fold } from "../ui/fold";
import { ready } from "../ui/ready";
import "../style/shell.css";

const SUGGESTED = [
  "ls -R /work",
  "grep -rn cents /work/src",
  "tail -n +2 /work/data/orders.csv | sort -t, -k4 -nr | head -3",
  "bash tests/run.sh",
  "cat /memories/*.md | wc -l",
];

export default function ShellView() {
  const place = useRef<HTMLDivElement>(null);
  const shell = useRef<Shell | null>(null);
  useEffect(() => {
    const parent = place.current;
    if (!parent || !ready.value) return;
    let gone = false;
    void openShell(parent).then((made) => {
      if (gone) return made.close();
      shell.current = made;
      parent.dataset.ready = "true";
      if (matchMedia("(min-width: 720px)").matches) made.focus();
    });
    return () => {
      gone = true;
      shell.current?.close();
      shell.current = null;
    };
  }, [ready.value]);
  return (
    <div class="split no-side with-aside">
      <section class="centre" aria-label="Shell">
        <div class="heading">
          <h1>A shell over the same files</h1>
          <p>Commands read and write all mounts: memory, IndexedDB and OPFS.</p>
        </div>
        <Fold title="Commands to try">
          <div class="suggested" role="group" aria-label="Commands to try">
            {SUGGESTED.map((command) => (
              <button key={command} type="button" onClick={() => void shell.current?.type(command)}>
                <code>{command}</code>
              </button>
            ))}
          </div>
        </Fold>
        <div class="terminal-frame">
          <div class="terminal-place" ref={place} />
        </div>
      </section>
      <CodeAside sample={samples.shell} />
    </div>
  );
}
