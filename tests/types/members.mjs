// The public members of the package: everything that a program can reach from its entries through
// the declarations, and whether each has documentation. A member of the package that only refers to
// a type of another package ends there.

import { sep } from "node:path";
import ts from "typescript";

const COMPILER = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  strict: true,
  types: [],
};

const HIDDEN = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;

/** Declarations that are a member or an export by themselves, and what they are called. */
function isMember(node) {
  return (
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessor(node) ||
    ts.isSetAccessor(node) ||
    ts.isConstructorDeclaration(node)
  );
}

const isExport = (node) =>
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isVariableDeclaration(node);

/** All members that `entries` reach in the folder `types`: `[{ name, file, documented }]`. */
export function publicMembers(types, entries) {
  const program = ts.createProgram(entries, COMPILER);
  const checker = program.getTypeChecker();
  const inside = (node) => node.getSourceFile().fileName.startsWith(types.replaceAll(sep, "/"));
  const seen = new Set();
  const open = [];
  const members = [];

  const target = (symbol) =>
    symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const reach = (symbol) => {
    const found = target(symbol);
    for (const node of found?.declarations ?? []) if (inside(node)) open.push(node);
  };

  function documented(node, name) {
    const own = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
    if (own.some((doc) => ts.getTextOfJSDocComment(doc.comment)?.trim() || doc.tags?.length))
      return true;
    // A member of a class may have its text from the class or interface above.
    const symbol = name && checker.getSymbolAtLocation(name);
    return (symbol?.getDocumentationComment(checker) ?? []).length > 0;
  }

  function count(node, path) {
    const name = ts.isConstructorDeclaration(node) ? "constructor" : node.name?.getText();
    const full = [...path, name].join(".");
    const file = node.getSourceFile().fileName.slice(types.length + 1);
    const own = ts.isVariableDeclaration(node) ? node.parent.parent : node;
    members.push({ name: full, file, documented: documented(own, node.name) });
    return full;
  }

  function walk(node, path) {
    if (
      ts.getCombinedModifierFlags(node) & HIDDEN ||
      node.name?.kind === ts.SyntaxKind.PrivateIdentifier
    )
      return;
    let here = path;
    if (isMember(node)) here = [count(node, path)];
    if (ts.isTypeReferenceNode(node)) reach(checker.getSymbolAtLocation(node.typeName));
    if (ts.isExpressionWithTypeArguments(node)) reach(checker.getSymbolAtLocation(node.expression));
    if (ts.isImportTypeNode(node) && node.qualifier)
      reach(checker.getSymbolAtLocation(node.qualifier));
    if (ts.isTypeQueryNode(node)) reach(checker.getSymbolAtLocation(node.exprName));
    ts.forEachChild(node, (child) => walk(child, here));
  }

  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry));
    for (const symbol of module ? checker.getExportsOfModule(module) : []) reach(symbol);
  }
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (!isExport(node)) continue;
    const name = count(node, []);
    ts.forEachChild(node, (child) => walk(child, [name]));
  }
  return members.sort((a, b) => (a.file + a.name < b.file + b.name ? -1 : 1));
}
