// Colours for TypeScript that is only shown: the parser of the editor, without the editor.

import { classHighlighter, highlightCode } from "@lezer/highlight";
import { parser } from "@lezer/javascript";

const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

export function highlighted(code: string): string {
  let html = "";
  highlightCode(
    code,
    parser.configure({ dialect: "ts" }).parse(code),
    classHighlighter,
    (text, classes) => {
      html += classes ? `<span class="${classes}">${escaped(text)}</span>` : escaped(text);
    },
    () => {
      html += "\n";
    },
  );
  return html;
}
