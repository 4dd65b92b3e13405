// The public names of the built package: what each entry exports, as TypeScript's compiler sees it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ENTRIES } from "../exports.mjs";
import { at } from "../paths.mjs";

/** The folders of the peers, whose types the adapters use. */
const PEERS = ["agents", "optional"].map((set) => at("tests/deps", set, "node_modules"));

function programOf(files) {
  const options = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const plain = (name, file) => ts.resolveModuleName(name, file, options, host);
  const resolve = (name, file) => {
    const found = plain(name, file).resolvedModule;
    if (found || name.startsWith(".")) return found;
    const folder = PEERS.find((peers) => existsSync(peers));
    return folder && plain(name, join(folder, "program.ts")).resolvedModule;
  };
  host.resolveModuleNames = (names, file) => names.map((name) => resolve(name, file));
  return ts.createProgram(files, options, host);
}

/**
 * What every entry exports: by entry, the names in order, each with its kind, whether it is a value (a
 * class is one) and the names of its own members. A type with the same name in two entries may be two
 * types, so `id` tells them apart.
 */
export function publicNames() {
  const fileOf = ({ types }) => at("pkg/types", `${types}.d.ts`);
  const program = programOf([...ENTRIES.values()].map(fileOf));
  const checker = program.getTypeChecker();
  const surface = new Map();
  for (const [path, entry] of ENTRIES) {
    const source = program.getSourceFile(fileOf(entry));
    if (!source) throw new Error(`${path} has no declarations: build the package first`);
    // A module that only does something when it is loaded exports nothing.
    const module = checker.getSymbolAtLocation(source);
    const symbols = module ? checker.getExportsOfModule(module) : [];
    const names = symbols.map((symbol) => {
      const alias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      const target = alias ? checker.getAliasedSymbol(symbol) : symbol;
      const found = target.declarations;
      const declaration = found.find((one) => ts.isClassDeclaration(one)) ?? found[0];
      return {
        name: symbol.name,
        id: `${target.name} ${declaration.getSourceFile().fileName} ${declaration.pos}`,
        value: (target.flags & ts.SymbolFlags.Value) !== 0,
        kind: KINDS.get(declaration.kind) ?? "const",
        members: membersOf(target, checker),
      };
    });
    surface.set(
      path,
      names.sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  }
  return surface;
}

const KINDS = new Map([
  [ts.SyntaxKind.ClassDeclaration, "class"],
  [ts.SyntaxKind.FunctionDeclaration, "function"],
  [ts.SyntaxKind.InterfaceDeclaration, "interface"],
  [ts.SyntaxKind.TypeAliasDeclaration, "type"],
]);

const HIDDEN = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;

/** The methods that a class has from an interface of its own name. */
function mergedInto(symbol, checker) {
  if ((symbol.flags & ts.SymbolFlags.Class) === 0) return [];
  return symbol.declarations
    .filter((one) => ts.isInterfaceDeclaration(one))
    .flatMap(({ heritageClauses }) => (heritageClauses ?? []).flatMap(({ types }) => types))
    .flatMap((type) => checker.getTypeAtLocation(type).getProperties())
    .flatMap(({ declarations }) => declarations ?? []);
}

/** The public members that the declarations of a name list themselves, `?` behind what may be absent. */
function membersOf(symbol, checker) {
  const own = symbol.declarations.flatMap(({ members, type }) => [
    ...(members ?? type?.members ?? []),
  ]);
  const members = [own, mergedInto(symbol, checker)].flatMap((list) =>
    list
      .filter((member) => member.name && !ts.isPrivateIdentifier(member.name))
      .filter((member) => (ts.getCombinedModifierFlags(member) & HIDDEN) === 0)
      .map((member) => {
        const isStatic = (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static) !== 0;
        return `${isStatic ? "static " : ""}${member.name.getText()}${member.questionToken ? "?" : ""}`;
      }),
  );
  return [...new Set(members)];
}

/** How many values and types there are: over all entries, and different ones. */
export function countNames(surface) {
  const all = [...surface.values()].flat();
  const different = [...new Map(all.map((one) => [one.id, one])).values()];
  const count = (names) => {
    const values = names.filter(({ value }) => value).length;
    return { values, types: names.length - values, names: names.length };
  };
  return { all: count(all), different: count(different) };
}

/** The surface as text, one name a line; members where a name is listed for the first time. */
export function surfaceText(surface) {
  const seen = new Set();
  const lineOf = ({ name, id, kind, members }) => {
    const listed = seen.has(id);
    seen.add(id);
    if (listed) return `  ${name}`;
    const shown = members.length > 0 ? ` { ${members.join(", ")} }` : "";
    return `  ${kind} ${name}${shown}`;
  };
  const sections = [...surface].map(([path, names]) =>
    [`kitbag${path.slice(1)}`, ...names.map(lineOf)].join("\n"),
  );
  return `${sections.join("\n\n")}\n`;
}
