// The types and functions of a component, read from its text as wasm-tools prints it. There a type is named by
// its number, and the numbers differ between two components of the same WIT, so each is written out here.

const EQUAL = String.raw`\(type (?:\(eq )?(\d+)\)+`;
const LINES = {
  defined: /^\(type \(;(\d+);\) (.+)\)$/,
  opened: /^\(type \(;(\d+);\)$/,
  outer: /^\(alias outer \d+ (\d+) \(type \(;(\d+);\)\)\)$/,
  alias: /^\(alias export (\d+) "([^"]+)" \(type \(;(\d+);\)\)\)$/,
  instance: /^\(import "([^"]+)" \(instance \(;(\d+);\) \(type (\d+)\)\)\)$/,
  resource:
    /^\((?:import|export \(;(\d+);\)) "([^"]+)" \(type (?:\(;(\d+);\) )?\(sub resource\)\)\)$/,
  imported: /^\(import "[^"]+" \(type \(;(\d+);\) \(eq (\d+)\)\)\)$/,
  type: new RegExp(String.raw`^\(export \(;(\d+);\) "([^"]+)" ${EQUAL}$`),
  function: /^\(export \(;\d+;\) "([^"]+)" (?:\(func \d+\) )?\(func \(type (\d+)\)\)\)$/,
  exported: /^\(export \(;(\d+);\) "([^"]+)" \(instance (\d+)\)\)$/,
  made: /^\(instance \(;(\d+);\) \(instantiate (\d+)/,
};

/** The lines of a component in which types are, without its modules of code. */
function* linesOf(text) {
  let inside = false;
  for (const line of text.split("\n")) {
    if (/^ {2}\(core module/.test(line)) inside = !line.endsWith("))");
    if (!inside) yield line;
    if (inside && line === "  )") inside = false;
  }
}

/** The interfaces of a component: `import NAME` or `export NAME`, each with `NAME TYPE` of all that it has. */
export function shapesOf(text) {
  const found = new Map();
  const outside = { types: [], has: new Map() };
  const [instances, components] = [[], []];
  let [scope, opened] = [outside, undefined];
  for (const line of linesOf(text)) {
    const depth = /^ */.exec(line)[0].length;
    if (depth === 2 && scope !== outside) {
      if (opened === undefined) components.push(scope);
      else outside.types[opened] = scope;
      [scope, opened] = [outside, undefined];
    }
    const [kind, values] = match(line.trim());
    const written = (of) => scope.types[of] ?? `unknown ${of}`;
    if (depth === 2 && /^ {2}\(component /.test(line)) scope = { types: [], has: new Map() };
    else if (kind === "opened") [scope, opened] = [{ types: [], has: new Map() }, values[0]];
    else if (kind === "defined") {
      // A text in quotes is a name.
      scope.types[values[0]] = values[1].replace(/"[^"]*"|(?<= )\d+(?=[ )]|$)/g, (one) =>
        one.startsWith('"') ? one : `(${written(one)})`,
      );
    } else if (kind === "outer") scope.types[values[1]] = outside.types[values[0]];
    else if (kind === "alias") scope.types[values[2]] = instances[values[0]].has.get(values[1]);
    else if (kind === "imported") scope.types[values[0]] = written(values[1]);
    else if (kind === "resource") {
      const [at, name, other] = values;
      const plain = `resource ${name.replace(/^import-type-/, "")}`;
      scope.types[at ?? other] = plain;
      if (at !== undefined) scope.has.set(name, plain);
    } else if (kind === "type") {
      scope.types[values[0]] = written(values[2]);
      scope.has.set(values[1], written(values[2]));
    } else if (kind === "function") scope.has.set(values[0], written(values[1]));
    else if (kind === "instance") {
      instances[values[1]] = outside.types[values[2]];
      found.set(`import ${values[0]}`, instances[values[1]].has);
    } else if (kind === "made") instances[values[0]] = components[values[1]];
    else if (kind === "exported") {
      const [at, name, of] = values;
      instances[at] = instances[of];
      found.set(`export ${name}`, instances[of].has);
    }
  }
  const sorted = (has) => [...has].map(([name, type]) => `${name} ${type}`).sort();
  return new Map([...found].map(([name, has]) => [name, sorted(has)]));
}

function match(line) {
  for (const [kind, pattern] of Object.entries(LINES)) {
    const values = pattern.exec(line);
    if (values) return [kind, values.slice(1)];
  }
  return [];
}
