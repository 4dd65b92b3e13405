// Paths and contents that an agent sends: real ones in many spellings, and those of what it may not reach.

import { UNSEEN } from "./dice.mjs";

const DIRECTORIES = [
  ...["/", "/open", "/open/sub", "/hidden", "/hidden/one", "/hidden/two", "/hidden/both"],
  ...["/locked", "/ask", "/web", "/protected", "/mnt"],
];

const OWN = [
  ...["/.kitbag", "/.kitbag/turns/journal", "/.KITBAG/evil", "/.kitbag/history/log/evil"],
  ...["/open/.kitbag", "/.kitbag/kept-here", "/open/.Kitbag/x/evil", "/.kit\u200bbag/evil"],
  ...["/.kitbag./evil", "/KITBAG~1/evil", "/.\u212aitbag/evil", "/.kitbag/labels.tsv"],
];

/** The same path in another spelling. */
function spelled(dice, path) {
  const spell = {
    same: (it) => it,
    doubled: (it) => it.replaceAll("/", "//"),
    dotted: (it) => it.replaceAll("/", "/./"),
    up: (it) => `/open/..${it}`,
    upper: (it) => it.toUpperCase(),
    slash: (it) => `${it}/`,
    relative: (it) => it.slice(1) || ".",
    beyond: (it) => `/../..${it}`,
    backslash: (it) => it.replaceAll("/", "\\"),
    percent: (it) => it.replace("/h", "/%68"),
    space: (it) => `${it} `,
  };
  const by = { same: 24, doubled: 2, dotted: 2, up: 2, upper: 1, slash: 2, relative: 3 };
  const way = dice.weighed({ ...by, beyond: 1, backslash: 1, percent: 1, space: 1 });
  return spell[way](path);
}

/** What an agent may name, at this moment. */
export class Places {
  constructor(world, agent, view) {
    this.dice = world.dice;
    this.world = world;
    this.agent = agent;
    this.all = [...view.keys()];
    this.shown = this.all.filter((path) => !agent.isHidden(path));
    this.own = Object.keys(world.planted);
    const isForbidden = (one, path) => one.isHidden(path) || one.isLocked(path);
    const others = world.agents.filter((one) => one !== agent);
    this.others = this.all.filter(
      (path) => !isForbidden(agent, path) && others.some((one) => isForbidden(one, path)),
    );
  }

  directory() {
    return spelled(this.dice, this.dice.of(DIRECTORIES));
  }

  /** A file that is there, or a place that must not be reached. */
  file() {
    const { dice } = this;
    const reached = this.others.length > 0 ? { others: 4 } : {};
    const weights = { shown: 8, any: 5, own: 1, library: 1, directory: 1, fresh: 2, ...reached };
    const kind = dice.weighed(weights);
    if (kind === "others") return dice.of(this.others);
    if (kind === "own") return spelled(dice, dice.of(this.own));
    if (kind === "library") return dice.of(OWN);
    if (kind === "directory") return this.directory();
    if (kind === "fresh") return this.fresh();
    const list = kind === "any" || this.shown.length === 0 ? this.all : this.shown;
    const path = list.length > 0 ? dice.of(list) : "/open/none.txt";
    const written = dice.chance(20) ? path.replace(/[^ -~]/gu, codeOf) : path;
    return spelled(dice, written);
  }

  /** A path that may be new. */
  fresh() {
    const { dice } = this;
    const name = dice.word("n");
    const odd = dice.weighed({ plain: 10, unseen: 2, own: 1, quoted: 1, key: 1, coded: 1 });
    if (odd === "own") return dice.of(OWN);
    const directory = dice.of(DIRECTORIES).replace(/^\/$/, "");
    const as = {
      plain: `${name}.txt`,
      unseen: `un${dice.of(UNSEEN)}seen${name}`,
      coded: `un\\u{200b}seen${name}`,
      quoted: `"${name}" it's.txt`,
      key: `${name}.key`,
    };
    return spelled(dice, `${directory}/${as[odd]}`);
  }

  /** A text to store, sometimes with a word that an answer had: only that of what was read has a label. */
  text() {
    const { dice, agent } = this;
    const known = [...agent.told].filter((word) => word.startsWith("zc"));
    const more = known.length > 0 && dice.chance(40) ? ` ${dice.of(known)}` : "";
    return `${dice.word("c")}${more}\n`;
  }

  /** A text to look for. */
  needle() {
    const { dice, agent } = this;
    const words = [...agent.knows];
    const one = words.length > 0 && dice.chance(30) ? dice.of(words) : "second";
    return dice.of([one, ".", "^", "z", "first", "zc.*", "[^!]", "(first|second)"]);
  }

  glob() {
    return this.dice.of([
      "**",
      "*",
      "**/*",
      "/**",
      "**/.*",
      "**/*.{txt,md,key}",
      "**/[!.]*",
      "*/*",
    ]);
  }
}

const codeOf = (one) => `\\u{${one.codePointAt(0).toString(16)}}`;
