// Compiled modules, from the package itself or from the caller. All must be of one build, because
// chunks contain addresses of the primary module's memory.

import build from "#build";
import { compile, type Source } from "#source";
import { mixed } from "../source/mixed.js";

const given = new Map<string, WebAssembly.Module>();

/** Registers a module that the caller compiled; its custom section has its name. */
export function give(module: WebAssembly.Module): void {
  const [name] = identify(module);
  given.set(name, module);
}

/** Whether the caller gave the module with this name. */
export function isGiven(name: string): boolean {
  return given.has(name);
}

/** The module with this name, compiled if necessary; it is of use with others. */
export function moduleNamed(
  name: string,
  source: Source,
  together: readonly string[] = [],
): WebAssembly.Module {
  const module = given.get(name) ?? compiled(name, source, together);
  const [is, of] = identify(module);
  if (is !== name || of !== build) throw mixed(is, of, name);
  return module;
}

function compiled(name: string, source: Source, together: readonly string[]): WebAssembly.Module {
  try {
    const missing = together.filter((one) => !given.has(one));
    return compile(name, source, missing);
  } catch (error) {
    // Chromium and Safari throw a CompileError that names the directive, Firefox something like an
    // EvalError.
    if (/Content.Security.Policy|unsafe-eval|blocked by CSP/i.test(String(error))) {
      throw new Error(
        "kitbag: this page's Content-Security-Policy forbids WebAssembly; add 'wasm-unsafe-eval' to its script-src directive",
        { cause: error },
      );
    }
    throw error;
  }
}

/** A module's name and build, from its custom section. */
function identify(module: WebAssembly.Module): [name: string, build: string] {
  const [section] = WebAssembly.Module.customSections(module, "kitbag");
  if (!section) throw new TypeError("kitbag: this WebAssembly module is not one of kitbag's");
  const [name = "", of = ""] = new TextDecoder().decode(section).split(" ");
  return [name, of];
}
