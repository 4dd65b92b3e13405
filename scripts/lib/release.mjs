// What a release must fulfil. Each function returns sentences about what is wrong, for people; an
// empty list is a pass. They take what they judge, so that tests can give them something wrong.

/** Files that a package may have. */
const ALLOWED =
  /^(dist\/[\w/-]+(\.js|\.cjs|\.wasm)|types\/[\w/-]+\.d\.c?ts|skills\/[\w/-]+\.md|LICENSE|README\.md|llms\.txt|package\.json)$/;
/** The most that the tarball may weigh, in bytes. */
export const MOST = 3_340_000;

const named = (value) =>
  typeof value === "string" ? [value] : Object.values(value).flatMap(named);

/** Names in the package: what is there, what must be there, what must not. */
export function contents(paths, manifest) {
  const has = new Set(paths);
  const wanted = [
    ...named(manifest.exports),
    manifest.main,
    manifest.module,
    manifest.types,
    ...Object.values(manifest.bin ?? {}),
    ...(Array.isArray(manifest.sideEffects) ? manifest.sideEffects : []),
    ...named(manifest.typesVersions ?? {}),
    "LICENSE",
    "README.md",
    "llms.txt",
    "skills/kitbag/SKILL.md",
  ];
  const files = wanted.filter((file) => file && !file.includes("*"));
  const missing = [...new Set(files)]
    .map((file) => file.replace(/^\.\//, ""))
    .filter((file) => !has.has(file));
  return [
    ...missing.map((file) => `the package names ${file}, which it does not contain`),
    ...paths
      .filter((path) => !ALLOWED.test(path) || /testing/.test(path))
      .map((path) => `${path} does not belong into the package`),
  ];
}

/** Bytes of the tarball. */
export function size(bytes) {
  const limit = `${(MOST / 1e6).toFixed(2)} MB`;
  return bytes <= MOST ? [] : [`the tarball has ${(bytes / 1e6).toFixed(2)} MB, over ${limit}`];
}

/** The version stands in three places; a version is released once. `tag` is that of this release. */
export function version({ crate, lock, manifest, tags, tag }) {
  const wrong = [];
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(crate ?? "")) wrong.push(`"${crate}" is no version`);
  if (lock !== crate) wrong.push(`Cargo.lock has the version ${lock}, Cargo.toml has ${crate}`);
  if (manifest !== crate)
    wrong.push(
      `pkg/package.json has the version ${manifest}, Cargo.toml has ${crate}: build again`,
    );
  if (tag !== undefined && tag !== `v${crate}`)
    wrong.push(`the tag is ${tag}, Cargo.toml has the version ${crate}`);
  if (tag === undefined && tags.includes(`v${crate}`))
    wrong.push(`the tag v${crate} exists: this version was released`);
  return wrong;
}

/** The changelog has an entry for the version, with a date. */
export function changelog(text, wanted) {
  const headings = [...text.matchAll(/^## (\S+)(?: \((.*)\))?$/gm)];
  const heading = headings.find(([, name]) => name === wanted);
  if (!heading) return [`CHANGELOG.md has no heading "## ${wanted} (YYYY-MM-DD)"`];
  if (headings[0] !== heading)
    return [`CHANGELOG.md begins with ${headings[0][1]}, not with ${wanted}`];
  if (!/^\d{4}-\d\d-\d\d$/.test(heading[2] ?? "")) {
    return [`CHANGELOG.md calls ${wanted} "${heading[2] ?? ""}": write the date, YYYY-MM-DD`];
  }
  return [];
}

/** An address of a repository as a page, if it is one: `git@host:owner/name.git` and the like. */
export function pageOf(repository) {
  const text = String(repository ?? "")
    .replace(/^git\+/, "")
    .replace(/\.git$/, "");
  const [, host, path] = /^(?:ssh:\/\/)?git@([^:/]+)[:/](.+)$/.exec(text) ?? [];
  const page = host ? `https://${host}/${path}` : text;
  return /^https:\/\/[^/\s]+\/\S+$/.test(page) ? page : undefined;
}

/** The fields that name the project's places, from what is given and what follows from it. */
export function places({ repository, homepage, bugs }) {
  const page = pageOf(repository);
  const given = {
    homepage: homepage ?? (page && `${page}#readme`),
    repository: page && { type: "git", url: `git+${page}.git` },
    bugs: bugs ?? (page && `${page}/issues`),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/**
 * The text of a page of the package, as it is published: links to other files of the repository are
 * addresses there, at the tag of the version, because the package does not contain these files.
 */
export function published(text, { repository, version, packed = [], name = "README.md" }) {
  const base = baseOf(repository, version);
  if (!base) return text;
  return text.replace(LINK, (whole, before, target) => {
    if (/^([a-z]+:|#)/i.test(target)) return whole;
    const { pathname, hash } = new URL(target, `file:///${name}`);
    if (packed.includes(pathname.slice(1))) return whole;
    return `${before}${base}${pathname.slice(1)}${hash})`;
  });
}

/** How the addresses of the repository's files at a version begin. */
export function baseOf(repository, version) {
  const page = pageOf(repository);
  return page && `${page}/blob/v${version}/`;
}

/** A link of Markdown up to its target, and the target. */
const LINK = /(\]\()([^)\s]+)\)/g;

/** A heading's fragment, as GitHub makes it. */
const fragmentOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/\]\([^)]*\)/g, "")
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/**
 * Every link of the pages in the package leads somewhere: out, to a file of the package, or to a page of
 * the repository and a heading there. `pages` and `paths` are those of the package, `own` has the start
 * of the repository's addresses and the text of a file there.
 */
export function links(pages, paths, own) {
  const wrong = [];
  for (const [name, text] of Object.entries(pages)) {
    for (const [, , target] of text.matchAll(LINK)) {
      if (target.startsWith(own?.base ?? "\0")) {
        const [file, fragment] = target.slice(own.base.length).split("#");
        const page = own.text(file);
        const headings = [...(page ?? "").matchAll(/^#+ (.*)$/gm)].map(([, one]) =>
          fragmentOf(one),
        );
        if (page === undefined) wrong.push(`${name} links to ${file}, which does not exist`);
        else if (fragment && !headings.includes(fragment))
          wrong.push(`${name} links to ${file}#${fragment}, a heading that does not exist`);
      } else if (!/^(https:\/\/|#)/.test(target)) {
        const { pathname } = new URL(target, `file:///${name}`);
        if (!paths.includes(pathname.slice(1)))
          wrong.push(`${name} links to ${target}, which is not in the package`);
      }
    }
  }
  return wrong;
}

/** What somebody types into npm's search, for whom this package may be. */
const SOUGHT = ["vfs", "virtual-filesystem", "ai-sdk", "mcp", "memory", "sandbox", "langgraph"];

const FIELDS = ["name", "version", "description", "license", "homepage", "repository", "bugs"];

/** The fields of the manifest that npm's page and provenance need. */
export function fields(manifest) {
  const how = {
    homepage: "give --repository URL or --homepage URL",
    repository: "give --repository URL, or add a git remote named origin",
    bugs: "give --repository URL or --bugs URL",
  };
  const missing = FIELDS.filter((name) => !manifest[name]).map(
    (name) => `package.json has no "${name}"${how[name] ? `: ${how[name]}` : ""}`,
  );
  const access = manifest.publishConfig ?? {};
  if (access.provenance !== true)
    missing.push('package.json has no "publishConfig.provenance": true');
  if (access.access !== "public")
    missing.push('package.json has no "publishConfig.access": "public"');
  const words = manifest.keywords ?? [];
  const unnamed = SOUGHT.filter((word) => !words.includes(word));
  if (unnamed.length > 0) missing.push(`package.json has no keywords ${unnamed.join(", ")}`);
  if (manifest.funding) missing.push('package.json has "funding", which this project has not');
  for (const name of ["dependencies", "scripts"]) {
    if (manifest[name]) missing.push(`package.json has "${name}", which the package needs none of`);
  }
  return missing;
}

/** The work tree is that of a commit for which the checks have passed. */
export function checks(now, commitOf) {
  if (!now) return ["this is no git work tree: nobody could tell what was released"];
  const wrong = now.changed.map((line) => `the work tree is not clean: ${line.trim()}`);
  for (const [name, command] of [
    ["lint", "npm run lint"],
    ["test", "npm test"],
  ]) {
    if (commitOf(name) !== now.commit) {
      wrong.push(`\`${command}\` has not passed for this commit: run .ci/run`);
    }
  }
  return wrong;
}
