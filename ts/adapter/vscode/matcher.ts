// VS Code's patterns of names against paths, in time that grows with the pattern times the path. `RegExp` tries
// each way to divide a path among several `**`, which takes very long for a deep path that somebody planted.

/** The end of what begins with a bracket; -1 if it has none. */
function closing(glob: string, from: number): number {
  let depth = 0;
  for (let at = from; at < glob.length; at++) {
    if (glob[at] === "{") depth += 1;
    if (glob[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

/** The parts of a text between signs that are in no braces. */
function parts(text: string, sign: string): string[] {
  const found = [""];
  let depth = 0;
  for (const one of text) {
    if (one === "{") depth += 1;
    if (one === "}") depth -= 1;
    if (one === sign && depth <= 0) found.push("");
    else found[found.length - 1] += one;
  }
  return found;
}

/** Reads one character and goes on to the next step, or goes to other steps without one. */
type Step = { reads: (one: string) => boolean } | { to: number[] };

const slash = (one: string) => one === "/";
const inName = (one: string) => one !== "/";
const any = () => true;

/** A pattern as steps; the end is after the last one. */
class Program {
  readonly steps: Step[] = [];

  #read(reads: (one: string) => boolean): void {
    this.steps.push({ reads });
  }

  /** What may be there or not; `again` if more than once. */
  #maybe(again: boolean, write: () => void): void {
    const to: number[] = [this.steps.length + 1];
    const begin = this.steps.push({ to }) - 1;
    write();
    if (again) this.steps.push({ to: [begin] });
    to.push(this.steps.length);
  }

  /** A pattern of names between slashes. */
  path(glob: string): void {
    const all = parts(glob, "/").filter((one, at, list) => one !== "**" || list[at - 1] !== "**");
    for (const [at, one] of all.entries()) {
      const last = at === all.length - 1;
      if (one !== "**") {
        this.#name(one);
        // `a/**` is also `a`.
        if (!last && !(all[at + 1] === "**" && at + 2 === all.length)) this.#read(slash);
      } else if (!last) {
        this.#maybe(true, () => {
          this.#read(inName);
          this.#maybe(true, () => this.#read(inName));
          this.#read(slash);
        });
      } else if (at === 0) this.#maybe(true, () => this.#read(any));
      else {
        this.#maybe(false, () => {
          this.#read(slash);
          this.#maybe(true, () => this.#read(any));
        });
      }
    }
  }

  #name(glob: string): void {
    for (let at = 0; at < glob.length; ) {
      const one = String.fromCodePoint(glob.codePointAt(at) as number);
      const end = one === "{" ? closing(glob, at) : one === "[" ? glob.indexOf("]", at + 1) : -1;
      const inside = glob.slice(at + 1, end);
      if (one === "*") {
        if (glob[at - 1] !== "*") this.#maybe(true, () => this.#read(inName));
      } else if (one === "?") this.#read(inName);
      else if (end < 0) this.#read((other) => other === one);
      else if (one === "{") this.#either(parts(inside, ","));
      else {
        // One character, so no way to go back.
        const form = new RegExp(
          `^[${inside.replace(/^[!^]/, "^").replace(/[[\\]/g, "\\$&")}]$`,
          "u",
        );
        this.#read((other) => other !== "/" && form.test(other));
      }
      at = end < 0 ? at + one.length : end + 1;
    }
  }

  #either(globs: readonly string[]): void {
    const to: number[] = [];
    this.steps.push({ to });
    const ends = globs.map((glob) => {
      to.push(this.steps.length);
      this.path(glob);
      const end: number[] = [];
      this.steps.push({ to: end });
      return end;
    });
    for (const end of ends) end.push(this.steps.length);
  }
}

/** Where a path may be in a pattern after some characters. */
interface Place {
  at: readonly number[];
  isEnd: boolean;
  next: Map<string, Place>;
}

/** Characters whose next place is kept; after that many all are forgotten. */
const KEPT = 10_000;

/** A pattern. */
export class Matcher {
  readonly #steps: readonly Step[];
  #places = new Map<string, Place>();
  #kept = 0;
  #first: Place | undefined;

  constructor(glob: string) {
    const program = new Program();
    try {
      program.path(glob);
      this.#steps = program.steps;
    } catch {
      // Such as `[z-a]`: nothing has that name.
      this.#steps = [{ reads: () => false }];
    }
  }

  /** The place of some steps, and of all that they lead to without a character. */
  #place(from: readonly number[]): Place {
    const seen = new Set(from);
    const at: number[] = [];
    // A set goes on with what is added meanwhile.
    for (const one of seen) {
      const step = this.#steps[one];
      if (step && "to" in step) for (const next of step.to) seen.add(next);
      else at.push(one);
    }
    at.sort((a, b) => a - b);
    const key = at.join();
    let place = this.#places.get(key);
    if (!place) {
      place = { at, isEnd: seen.has(this.#steps.length), next: new Map() };
      this.#places.set(key, place);
    }
    return place;
  }

  #after(place: Place, one: string): Place {
    let next = place.next.get(one);
    if (next) return next;
    const on: number[] = [];
    for (const at of place.at) {
      const step = this.#steps[at];
      if (step && "reads" in step && step.reads(one)) on.push(at + 1);
    }
    this.#kept += 1;
    if (this.#kept > KEPT) {
      this.#kept = 0;
      this.#places = new Map();
      this.#first = undefined;
      return this.#place(on);
    }
    next = this.#place(on);
    place.next.set(one, next);
    return next;
  }

  /** Whether a path, or with `above` one above it, has the pattern. */
  test(path: string, above = false): boolean {
    this.#first ??= this.#place([0]);
    let place = this.#first;
    for (const one of path) {
      if (above && one === "/" && place.isEnd) return true;
      place = this.#after(place, one);
      if (place.at.length === 0) return false;
    }
    return place.isEnd;
  }
}
