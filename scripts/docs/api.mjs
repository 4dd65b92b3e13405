// The API reference, made from the type declarations of the built package: one page for each file
// that declares something public. TypeScript reads the declarations, so that what is shown is what
// users compile against. A generator of documentation was tried (TypeDoc with its Markdown plugin):
// it adds 48 MB to install and a page for each of 200 names.

import { readFileSync } from "node:fs";
import { relative } from "node:path";
import ts from "typescript";
import { at } from "../lib/paths.mjs";

const TYPES = at("pkg/types");

/** Pages that hold the names of several files. */
const SHARED = [
  [/^(backend\/browser|disk)\//, "storages"],
  [/^(core|foreign|graph)\//, "other"],
  [/^tool\/(prompts|guided)/, "prompts"],
];

const TITLES = {
  types: "Results and protocol",
  tools: "createFileTools",
  storages: "Parts of options",
  other: "Other names",
  policy: "withPolicy",
  prompts: "Prompts",
};

/** The first declarations that an export names, under whatever conditions. */
function declarations(target) {
  if (typeof target !== "object" || target === null) return undefined;
  const { types, ...others } = target;
  if (typeof types === "string") return types;
  return declarations(types) ?? Object.values(others).map(declarations).find(Boolean);
}

/** `kitbag/…` for each subpath with types. */
function entries() {
  const { exports } = JSON.parse(readFileSync(at("pkg/package.json"), "utf8"));
  return Object.entries(exports).flatMap(([path, target]) => {
    const types = declarations(target);
    return types ? [{ name: `kitbag${path.slice(1)}`, file: at("pkg", types) }] : [];
  });
}

function pageOf(file, entry) {
  const path = relative(TYPES, file).replace(/\.d\.[mc]?ts$/, "");
  if (entry !== "kitbag") return entry.slice("kitbag/".length);
  return SHARED.find(([pattern]) => pattern.test(path))?.[1] ?? path.split("/").at(-1);
}

const oneLine = (text) => text.replace(/\s+/g, " ").trim();
/** Text of a cell: a bar would end it, and Vue would read braces and angles. */
const cell = (text) => oneLine(text).replaceAll("|", "\\|");
const prose = (text) =>
  text
    .replace(/`[^`]*`|[<{]/g, (part) => (part === "<" ? "&lt;" : part === "{" ? "&#123;" : part))
    .trim();
const code = (text) => `\`${cell(text)}\``;

/** Breaks a long declaration at its alternatives, or at its parameters. */
function wrapped(text) {
  return text
    .split("\n")
    .map((line) => {
      if (line.length <= 84) return line;
      if (/^type \w+ = /.test(line) && !line.includes("(")) {
        return line.replace(" = ", " =\n  | ").replaceAll(/(?<=\S) (?=\| ["\w])/g, "\n  ");
      }
      return line.replaceAll(/, (?=\w+\??: )/g, ",\n  ");
    })
    .join("\n");
}

/** The declaration of a type as text, with the comments of its fields but without its own. */
const sourceOfAlias = (node) => node.getText().replace(/^ {4}/gm, "  ").replace(/^ {8}/gm, "    ");

class Reference {
  #checker;
  #places = new Map();

  constructor(program) {
    this.#checker = program.getTypeChecker();
  }

  names(file, program) {
    const module = this.#checker.getSymbolAtLocation(program.getSourceFile(file));
    return this.#checker.getExportsOfModule(module).map((symbol) => {
      const target =
        symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
      return { name: symbol.name, symbol: target };
    });
  }

  place(name, page) {
    this.#places.set(name, page);
  }

  #doc(symbol) {
    return ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
  }

  #tags(symbol) {
    return symbol.getJsDocTags(this.#checker).map(({ name, text }) => ({
      name,
      text: ts.displayPartsToString(text),
    }));
  }

  #links(text, page, self) {
    const found = new Set(text.match(/\b[A-Z]\w+/g) ?? []);
    const links = [...found]
      .filter((name) => name !== self && this.#places.has(name))
      .map((name) => {
        const where = this.#places.get(name);
        return `[${name}](${where === page ? "" : `./${where}.md`}#${name.toLowerCase()})`;
      });
    return links.length > 0 ? ` (${links.join(", ")})` : "";
  }

  /** The declaration as text, without its comments. */
  #source(node) {
    const printer = ts.createPrinter({ removeComments: true });
    return printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  }

  #table(members, page, self) {
    const rows = members.map((member) => {
      const node = member.valueDeclaration ?? member.declarations?.[0];
      const optional = member.flags & ts.SymbolFlags.Optional ? "?" : "";
      const method = node && (ts.isMethodSignature(node) || ts.isMethodDeclaration(node));
      const type = method
        ? this.#source(node)
            .replace(/^.*?(?=[<(])/s, "")
            .replace(/;$/, "")
        : node?.type
          ? this.#source(node.type)
          : this.#checker.typeToString(this.#checker.getTypeOfSymbol(member));
      const old = this.#tags(member).find(({ name }) => name === "deprecated");
      const doc = `${prose(this.#doc(member))}${old ? ` Deprecated: ${prose(old.text)}` : ""}`;
      const links = this.#links(type, page, self);
      return `| ${code(`${member.name}${optional}`)} | ${code(type)}${links} | ${cell(doc)} |`;
    });
    if (rows.length === 0) return "";
    return `| name | type | meaning |\n|---|---|---|\n${rows.join("\n")}\n`;
  }

  #methods(members, page, self) {
    return members
      .map((member) => {
        const nodes = (member.declarations ?? []).filter((node) => !!node.parameters);
        const lines = nodes.map((node) => this.#source(node).replace(/;$/, ""));
        const params = this.#tags(member)
          .filter(({ name, text }) => name === "param" && text.includes(" "))
          .map(({ text }) => {
            const [name, ...rest] = text.split(" ");
            return `- \`${name}\`: ${prose(oneLine(rest.join(" ")))}`;
          });
        const text = wrapped(lines.join("\n"));
        const links = this.#links(text, page, self);
        const doc = prose(this.#doc(member));
        return `### ${self}.${member.name}\n\n\`\`\`ts\n${text}\n\`\`\`\n\n${doc}${links}\n\n${params.join("\n")}\n`;
      })
      .join("\n");
  }

  section({ name, symbol }, page) {
    const node = symbol.valueDeclaration ?? symbol.declarations?.[0];
    const head = `## ${name}\n\n${prose(this.#doc(symbol))}\n\n`;
    const tags = this.#tags(symbol);
    const old = tags.find((tag) => tag.name === "deprecated");
    const note = old ? `Deprecated: ${prose(old.text)}\n\n` : "";
    return head + note + this.#body(name, symbol, node, page);
  }

  #body(name, symbol, node, page) {
    const checker = this.#checker;
    if (symbol.flags & ts.SymbolFlags.Class) {
      const own = [...symbol.members.values()].filter((member) => this.#isPublic(member));
      const base = node.heritageClauses?.map((clause) => clause.getText()).join(" ") ?? "";
      const made = symbol.members.get("__constructor")?.declarations ?? [];
      const lines = made.map((one) =>
        this.#source(one).replace("constructor", `new ${name}`).replace(/;$/, ""),
      );
      const text = lines.join("\n");
      const properties = own.filter((member) => !(member.flags & ts.SymbolFlags.Method));
      const methods = own.filter((member) => member.flags & ts.SymbolFlags.Method);
      const links = this.#links(`${text} ${base}`, page, name);
      return [
        `\`\`\`ts\n${text || `class ${name}`}\n\`\`\`\n`,
        base ? `\`${cell(base)}\`${links}\n` : `${links.trim()}\n`,
        this.#table(properties, page, name),
        this.#methods(methods, page, name),
      ].join("\n");
    }
    if (symbol.flags & ts.SymbolFlags.Interface) {
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      const calls = type.getCallSignatures().map((one) => checker.signatureToString(one));
      const called = calls.length > 0 ? `\`\`\`ts\n${calls.join("\n")}\n\`\`\`\n\n` : "";
      return called + this.#table(type.getProperties(), page, name);
    }
    const isFunction = (symbol.flags & ts.SymbolFlags.Function) !== 0;
    const nodes = isFunction ? symbol.declarations : [node];
    const text = nodes
      // The fields of a result have their meaning in comments.
      .map((one) => (isFunction ? this.#source(one) : sourceOfAlias(one)))
      .map((one) => one.replace(/^export (declare )?/, ""))
      .join("\n");
    return `\`\`\`ts\n${wrapped(text)}\n\`\`\`\n\n${this.#links(text, page, name).trim()}\n`;
  }

  #isPublic(member) {
    const node = member.valueDeclaration ?? member.declarations?.[0];
    if (!node || member.name === "__constructor" || member.name.startsWith("__#")) return false;
    const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
    return (ts.getCombinedModifierFlags(node) & hidden) === 0 && !ts.isPrivateIdentifier(node.name);
  }
}

/** The pages: `[{ name, title, text, names }]`, the first being the index. */
export function apiPages() {
  const modules = entries();
  const program = ts.createProgram(
    modules.map(({ file }) => file),
    {
      strict: true,
      skipLibCheck: true,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
    },
  );
  const reference = new Reference(program);
  const pages = new Map();
  for (const { name: entry, file } of modules) {
    for (const found of reference.names(file, program)) {
      const node = found.symbol.valueDeclaration ?? found.symbol.declarations?.[0];
      if (!node || found.name === "default") continue;
      // The rest is on the pages of other entries.
      if (entry === "kitbag/slim" && !/\/slim\.d\.ts$/.test(node.getSourceFile().fileName))
        continue;
      const page = pageOf(node.getSourceFile().fileName, entry);
      if (!pages.has(page)) pages.set(page, { name: page, entry, found: [] });
      pages.get(page).found.push(found);
      if (entry !== "kitbag") continue;
      reference.place(found.name, page);
    }
  }
  const made = [...pages.values()].map(({ name, entry, found }) => {
    const isClass = ({ symbol }) => (symbol.flags & ts.SymbolFlags.Class ? 0 : 1);
    found.sort((a, b) => isClass(a) - isClass(b));
    const classes = found.filter((one) => isClass(one) === 0).map((one) => one.name);
    const title = entry === "kitbag" ? (TITLES[name] ?? (classes.join(", ") || name)) : entry;
    const from = `From \`${entry}\`.\n\n`;
    const text = `# ${title}\n\n${from}${found.map((one) => reference.section(one, name)).join("\n")}`;
    return { name, title, text, names: found.map((one) => one.name) };
  });
  made.sort((a, b) => order(a.title) - order(b.title) || a.title.localeCompare(b.title));
  const list = made
    .map(({ name, title, names }) => {
      const links = names.map((one) => `[${one}](./${name}.md#${one.toLowerCase()})`).join(", ");
      return `- **[${title}](./${name}.md)**: ${links}`;
    })
    .join("\n");
  const total = made.reduce((sum, { names }) => sum + names.length, 0);
  const index = `# API reference\n\nMade from the type declarations of the package: ${total} names. Options and results stand here; what an operation does is described in [What each operation does](../protocol.md).\n\n${list}\n`;
  return [{ name: "index", title: "All names", text: index, names: [] }, ...made];
}

/** Classes first, then the rest of `kitbag`, then its subpaths. */
function order(title) {
  if (/Backend(,|$)/.test(title)) return 0;
  return title.startsWith("kitbag/") ? 2 : 1;
}
