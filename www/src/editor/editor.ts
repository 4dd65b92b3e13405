// CodeMirror as the playground uses it: for files of any text type, with what differs from the saved
// text marked on request.

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { css } from "@codemirror/lang-css";
import { html } from "@codemirror/lang-html";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import {
  bracketMatching,
  foldGutter,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { narrow } from "../ui/fold";

function language(path: string): Extension {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  if (/^[cm]?[jt]sx?$/.test(ending)) {
    return javascript({ typescript: ending.includes("t"), jsx: ending.endsWith("x") });
  }
  if (ending === "json") return json();
  if (ending === "md") return markdown();
  if (ending === "css") return css();
  if (/^(html?|svg|xml)$/.test(ending)) return html();
  return [];
}

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "0.93rem", backgroundColor: "transparent" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { paddingLeft: "14px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused": { outline: "none" },
  ".cm-gutter-lint": { width: "1.1em" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { background: "color-mix(in oklab, var(--accent) 24%, transparent)" },
  ".cm-panels": { backgroundColor: "var(--surface)", color: "var(--text)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "7px",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-fill)",
    color: "#fff",
  },
  ".cm-completionInfo": { padding: "8px 10px", maxWidth: "320px", fontFamily: "var(--sans)" },
  ".cm-changedLine": { backgroundColor: "var(--good-soft) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft) !important" },
  ".cm-changedText": { background: "color-mix(in oklab, var(--good) 26%, transparent) !important" },
  ".cm-deletedChunk .cm-deletedText": {
    background: "color-mix(in oklab, var(--bad) 26%, transparent) !important",
  },
});

export interface EditorOptions {
  path: string;
  text: string;
  label: string;
  readOnly?: boolean;
  /** The number of the first line, for a part of a file. Default 1. */
  firstLine?: number;
  onChange?(text: string): void;
  onSave?(): void;
  /** Has room for marks beside lines. */
  marks?: boolean;
  /** Words to complete, at the place of the cursor. */
  complete?(before: string, explicit: boolean): Completion[];
}

export interface Editor {
  text(): string;
  setText(text: string): void;
  /** Marks what differs from this text; undefined ends it. */
  compare(original: string | undefined): void;
  /** Marks the place of a mistake; undefined ends it. */
  mark(mistake: { line: number; column?: number; message: string } | undefined): void;
  /** Selects a line, and brings it into sight. */
  goTo(line: number): void;
  close(): void;
}

export function openEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const merge = new Compartment();
  const above = (options.firstLine ?? 1) - 1;
  const source = (context: CompletionContext) => {
    const word = context.matchBefore(/[\w"/-]*/);
    if (!options.complete || (!context.explicit && !word?.text)) return null;
    const before = context.state.sliceDoc(0, word?.from ?? context.pos);
    return { from: word?.from ?? context.pos, options: options.complete(before, context.explicit) };
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        narrow.value ? EditorView.lineWrapping : [],
        lineNumbers({ formatNumber: (line) => String(line + above) }),
        foldGutter(),
        options.marks ? lintGutter() : [],
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        syntaxHighlighting(classHighlighter),
        autocompletion(options.complete ? { override: [source] } : {}),
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        EditorState.readOnly.of(options.readOnly ?? false),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange?.(update.state.doc.toString());
        }),
        keymap.of([
          {
            key: "Mod-s",
            run: () => {
              options.onSave?.();
              return true;
            },
          },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...completionKeymap,
          indentWithTab,
        ]),
        language(options.path),
        look,
        merge.of([]),
      ],
    }),
  });
  // What scrolls must be reachable by keyboard, also where nothing can be typed.
  if (options.readOnly) view.scrollDOM.tabIndex = 0;
  return {
    text: () => view.state.doc.toString(),
    setText: (text) =>
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    compare: (original) =>
      view.dispatch({
        effects: merge.reconfigure(
          original === undefined
            ? []
            : unifiedMergeView({ original, mergeControls: false, gutter: true }),
        ),
      }),
    mark: (mistake) => {
      const { doc } = view.state;
      const line = mistake && doc.line(Math.min(Math.max(mistake.line, 1), doc.lines));
      // Behind the last letter there is nothing to underline.
      const at = line ? line.from + Math.max((mistake.column ?? 1) - 1, 0) : 0;
      const from = line && at >= line.to ? line.from : at;
      view.dispatch(
        setDiagnostics(
          view.state,
          line ? [{ from, to: line.to, severity: "error", message: mistake.message }] : [],
        ),
      );
    },
    goTo: (wanted) => {
      const { doc } = view.state;
      const line = doc.line(Math.min(Math.max(wanted - above, 1), doc.lines));
      view.dispatch({
        selection: { anchor: line.from, head: line.to },
        effects: EditorView.scrollIntoView(line.from, { y: "center" }),
      });
      view.focus();
    },
    close: () => view.destroy(),
  };
}
