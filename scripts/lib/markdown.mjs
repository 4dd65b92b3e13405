// Markdown as HTML, as far as the pages in `docs/` use it: headings, paragraphs, lists, tables, fenced
// code, quotes, images, links, emphasis. It is for the playground of `npm start`, which shows these
// pages without the packages that build the site.

const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** The fragment of a heading, as the site has it: a hyphen for every run of punctuation. */
const fragment = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .replace(/^(\d)/, "_$1");

const SAFE = /^(https?:|mailto:|#|\.{0,2}\/|[\w.-]+(\/|#|$|\?))/i;

/** The address of a link as an attribute, unless it runs a script or leads nowhere. */
function safe(url, link) {
  const address = SAFE.test(url) ? link(url) : undefined;
  return address === undefined ? undefined : escaped(address);
}

/** Text with code, links, images and emphasis. What is in code is not looked at again. */
function inline(text, link) {
  const kept = [];
  const keep = (html) => `\u0001${kept.push(html) - 1}\u0001`;
  const out = escaped(
    text
      .replaceAll("\u0001", "")
      // It may go on in the next line, as emphasis may.
      .replace(/(`+)(.+?)\1(?!`)/gs, (_, _ticks, code) =>
        keep(`<code>${escaped(code.trim().replaceAll("\n", " "))}</code>`),
      )
      .replace(/\\([\\`*_{}[\]()#+.!|<>-])/g, (_, letter) => keep(escaped(letter)))
      .replace(/!\[([^\]]*)\]\(([^\s)]+)\)/g, (_, alt, url) => {
        const src = safe(url, link);
        return src === undefined ? alt : keep(`<img alt="${escaped(alt)}" src="${src}">`);
      })
      .replace(/\[([^\]]*)\]\(([^\s)]+)\)/g, (_, words, url) => {
        const href = safe(url, link);
        return href === undefined ? words : `${keep(`<a href="${href}">`)}${words}${keep("</a>")}`;
      }),
  )
    .replace(/\*\*(.+?)\*\*/gs, "<strong>$1</strong>")
    .replace(/(?<![\w*])\*(?!\s)([^*]+?)\*(?!\w)/g, "<em>$1</em>");
  const restored = (html) => html.replace(/\u0001(\d+)\u0001/g, (_, at) => restored(kept[at]));
  return restored(out);
}

const cells = (row) =>
  row
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

const ITEM = /^(\s*)([-*]|\d+\.)\s+(.*)$/;

/** The HTML of some lines. `link` returns the address of a link, or undefined for none. */
export function html(markdown, link = (url) => url) {
  const lines = markdown.replace(/^---\n[\s\S]*?\n---\n/, "").split("\n");
  const out = [];
  let at = 0;
  const until = (stop) => {
    const from = at;
    while (at < lines.length && !stop(lines[at])) at += 1;
    return lines.slice(from, at);
  };
  const begins = (line) =>
    /^\s*$|^#{1,6} |^\s*```|^>|^\|/.test(line) || ITEM.test(line) || /^(-{3,}|\*{3,})$/.test(line);
  while (at < lines.length) {
    const line = lines[at];
    const heading = /^(#{1,6}) (.*?)\s*#*$/.exec(line);
    const fence = /^(\s*)(`{3,})/.exec(line);
    if (/^\s*$/.test(line)) at += 1;
    else if (fence) {
      at += 1;
      const code = until((one) => one.trim() === fence[2]);
      at += 1;
      const own = code.map((one) => one.slice(Math.min(fence[1].length, one.search(/\S|$/))));
      out.push(`<pre><code>${escaped(own.join("\n"))}\n</code></pre>`);
    } else if (heading) {
      at += 1;
      const level = heading[1].length;
      const id = escaped(fragment(heading[2]));
      out.push(`<h${level} id="${id}">${inline(heading[2], link)}</h${level}>`);
    } else if (/^(-{3,}|\*{3,})$/.test(line)) {
      at += 1;
      out.push("<hr>");
    } else if (line.startsWith(">")) {
      const quote = until((one) => !one.startsWith(">")).map((one) => one.replace(/^> ?/, ""));
      out.push(`<blockquote>${html(quote.join("\n"), link)}</blockquote>`);
    } else if (line.startsWith("|")) {
      const [head, , ...rows] = until((one) => !one.startsWith("|"));
      const row = (text, tag) =>
        `<tr>${cells(text)
          .map((cell) => `<${tag}>${inline(cell, link)}</${tag}>`)
          .join("")}</tr>`;
      const body = rows.map((one) => row(one, "td")).join("\n");
      out.push(`<table><thead>${row(head, "th")}</thead>\n<tbody>${body}</tbody></table>`);
    } else if (ITEM.test(line)) {
      const [, indent, mark] = ITEM.exec(line);
      const tag = /\d/.test(mark) ? "ol" : "ul";
      const items = [];
      while (at < lines.length) {
        const item = ITEM.exec(lines[at]);
        if (!item || item[1].length !== indent.length || /\d/.test(item[2]) !== (tag === "ol"))
          break;
        at += 1;
        const deeper = (one) => one.startsWith(`${indent}  `) && one.trim() !== "";
        const lazy = (one) => !begins(one);
        const more = until((one) => !deeper(one) && !lazy(one));
        const inner = more.map((one) => one.replace(new RegExp(`^${indent} {2,3}`), ""));
        const text = [item[3], ...inner].join("\n");
        const plain = inner.every((one) => !begins(one));
        items.push(`<li>${plain ? inline(text, link) : html(text, link)}</li>`);
      }
      out.push(`<${tag}>${items.join("\n")}</${tag}>`);
    } else {
      const text = [line];
      at += 1;
      text.push(...until(begins));
      out.push(`<p>${inline(text.join("\n"), link)}</p>`);
    }
  }
  return out.join("\n");
}
