// The lines of TypeScript that make a view, with a button that copies them and a link to the docs.

import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icons";

export type Sample = { title: string; code: string; docs: string };

/** Where the page of the docs is, beside the playground. */
export const docs = (page: string) => new URL(`docs/${page}`, document.baseURI).href;

function CopyButton({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
  };
  return (
    <button type="button" class="quiet" onClick={copy} onBlur={() => setDone(false)}>
      <Icon name={done ? "check" : "copy"} size={15} />
      {done ? "Copied" : "Copy"}
    </button>
  );
}

export function Code({ sample }: { sample: Sample }) {
  const [html, setHtml] = useState("");
  const { code } = sample;
  useEffect(() => {
    let gone = false;
    void import("../editor/highlight").then(({ highlighted }) => {
      if (!gone) setHtml(highlighted(code));
    });
    return () => {
      gone = true;
    };
  }, [code]);
  return (
    <section class="code" aria-label="The code of this view">
      <header>
        <h2>{sample.title}</h2>
        <CopyButton text={code} />
      </header>
      <pre tabIndex={0} role="group" aria-label="TypeScript">
        {html ? <code dangerouslySetInnerHTML={{ __html: html }} /> : <code>{code}</code>}
      </pre>
      <p>
        <a href={docs(sample.docs)}>Read more in the documentation</a>
      </p>
    </section>
  );
}

/** The code, behind a button where there is no room for it. */
export function CodeAside({ sample, closed }: { sample: Sample; closed?: boolean }) {
  const wide = matchMedia("(min-width: 1280px)").matches;
  return (
    <details class="code-aside" open={wide && !closed}>
      <summary>
        <Icon name="shell" size={15} /> Code of this view
      </summary>
      <Code sample={sample} />
    </details>
  );
}
