// Installs or builds what a suite or a script needs, one thing at a time and only on request: on a
// new machine with Rust and Node, `ensure("chromium")` installs a browser and nothing else. All
// functions can be called repeatedly, also by several processes at once. Only Node's own modules
// are imported, because npm packages are among the things to install.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { buildPackage } from "./lib/built.mjs";
import { buildComponent } from "./lib/component.mjs";
import { must, run } from "./lib/exec.mjs";
import { locked } from "./lib/lock.mjs";
import { at, cache } from "./lib/paths.mjs";
import { buildPython } from "./lib/python.mjs";
import { buildSplitter } from "./lib/splitter.mjs";

const tools = cache("tools");

function addToPath(directory) {
  const parts = (process.env.PATH ?? "").split(delimiter);
  if (!parts.includes(directory)) process.env.PATH = [directory, ...parts].join(delimiter);
}

function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

/** Path of a command, looked up in PATH; undefined if it is not found. */
export function which(command) {
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(directory, command);
    if (directory !== "" && existsSync(path)) return path;
  }
  return undefined;
}

// Rust.

async function wasmTarget() {
  const target = "wasm32-unknown-unknown";
  const found = await run("rustc", ["--print", "target-libdir", "--target", target]);
  if (found.code === 127) {
    throw new Error("Rust is missing: install it from https://rustup.rs, then run this again");
  }
  if (found.code === 0 && existsSync(found.output.trim())) return;
  if (!which("rustup")) {
    throw new Error(`this Rust has no ${target} and there is no rustup to add it: install rustup`);
  }
  say(`adding the Rust target ${target}`);
  await must("rustup", ["target", "add", target]);
}

async function rustComponents() {
  for (const [command, component] of [
    ["cargo-fmt", "rustfmt"],
    ["cargo-clippy", "clippy"],
  ]) {
    const { code } = await run(command, ["--version"]);
    if (code === 0) continue;
    say(`adding ${component}`);
    await must("rustup", ["component", "add", component]);
  }
}

/** The version of wasm-bindgen that Cargo.toml pins. */
export function wasmBindgenVersion() {
  const pin = /^wasm-bindgen\s*=.*?"=([\d.]+)"/m.exec(readFileSync(at("Cargo.toml"), "utf8"));
  if (!pin) throw new Error('Cargo.toml must pin wasm-bindgen: version = "=X.Y.Z"');
  return pin[1];
}

/**
 * A tool is compiled without optimisation, in a third of the time: what it does for us takes
 * seconds. `bare` leaves out the features that it does not need here.
 */
async function cargoTool(crate, command, { version, bare = [] } = {}) {
  addToPath(join(tools, "bin"));
  const found = await run(command, ["--version"]);
  const has = /\d+\.\d+\.\d+/.exec(found.output)?.[0];
  if (found.code === 0 && (version === undefined || has === version)) return;
  say(`building ${crate}${version ? ` ${version}` : ""} with cargo; this takes a minute, once`);
  mkdirSync(tools, { recursive: true });
  const options = version ? ["--version", version, "--force"] : [];
  const env = { CARGO_PROFILE_DEV_DEBUG: "0" };
  // One target directory: wasm-bindgen and wasm-pack share dependencies.
  const where = ["--root", tools, "--target-dir", join(tools, "target")];
  await must("cargo", ["install", crate, "--debug", ...bare, ...options, ...where], { env });
}

/** The source of every crate in Cargo.lock, also of those that only other systems compile. */
async function crates() {
  const { code } = await run("cargo", ["metadata", "--offline", "--locked", "--format-version=1"]);
  if (code === 0) return;
  say("downloading the crates of all systems");
  await must("cargo", ["fetch", "--locked"]);
}

// npm.

function lockOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
  } catch {
    return undefined;
  }
}

/** Whether `node_modules` matches the lock file. */
function installed(directory) {
  const wanted = lockOf(join(directory, "package-lock.json"));
  const have = lockOf(join(directory, "node_modules/.package-lock.json"));
  if (!wanted || !have) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === "") return true;
    if (have[name]) return have[name].version === entry.version;
    // Packages for other systems are in the lock file and are never installed.
    return entry.optional === true || entry.peer === true;
  });
}

async function npmPackages(directory) {
  if (installed(directory)) return;
  say(`installing npm packages in ${directory.slice(at().length + 1) || "."}`);
  // Not `npm ci`: it refuses a lock file whose entries for other systems have no version, as
  // written with a registry that lacks those packages. This command installs the locked versions.
  const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
  await must("npm", ["install", "--no-save", ...quiet], { cwd: directory });
}

// Browsers and other Debian packages.

async function apt(packages, otherwise) {
  const root = process.getuid?.() === 0;
  if (!which("apt-get") || !root) {
    throw new Error(
      `${packages.join(" and ")} missing, and apt-get cannot be used here: ${otherwise}`,
    );
  }
  await locked("apt", async () => {
    say(`installing ${packages.join(", ")} with apt-get`);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    await must("apt-get", ["update", "-q"], { env });
    await must("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], { env });
  });
}

/**
 * Programs of Debian packages by the need they belong to: where each usually is, its packages, and the
 * variable that may name its path; one without a variable is looked up in PATH by those that use it.
 */
const PROGRAMS = {
  ripgrep: [{ variable: "KITBAG_RG", places: ["rg"], packages: ["ripgrep"] }],
  openssl: [{ places: ["openssl"], packages: ["openssl"] }],
  zsh: [{ variable: "KITBAG_ZSH", places: ["zsh"], packages: ["zsh"] }],
  busybox: [{ variable: "KITBAG_BUSYBOX", places: ["busybox"], packages: ["busybox"] }],
  chromium: [
    {
      variable: "KITBAG_CHROMIUM",
      places: [
        ...["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"],
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
      ],
      packages: ["chromium"],
    },
  ],
  chromedriver: [
    { variable: "KITBAG_CHROMEDRIVER", places: ["chromedriver"], packages: ["chromium-driver"] },
  ],
  firefox: [
    {
      variable: "KITBAG_FIREFOX",
      places: ["firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"],
      packages: ["firefox-esr"],
    },
  ],
  webkit: [
    {
      variable: "KITBAG_WEBKITDRIVER",
      places: ["WebKitWebDriver"],
      packages: ["webkit2gtk-driver"],
    },
    { variable: "KITBAG_XVFB_RUN", places: ["xvfb-run"], packages: ["xvfb", "xauth"] },
    {
      variable: "KITBAG_MINIBROWSER",
      places: ["x86_64", "aarch64"].map(
        (m) => `/usr/lib/${m}-linux-gnu/webkit2gtk-4.1/MiniBrowser`,
      ),
      packages: ["webkit2gtk-driver"],
    },
  ],
  postgres: [
    {
      variable: "KITBAG_POSTGRES",
      // A test starts its own server.
      places: [
        ...["17", "16", "15", "14"].map((v) => `/usr/lib/postgresql/${v}/bin/postgres`),
        "postgres",
      ],
      packages: ["postgresql"],
    },
  ],
  wine: [
    {
      variable: "KITBAG_WINE",
      places: ["/usr/lib/wine/wine64", "/usr/lib/wine/wine", "wine64"],
      packages: ["wine64", "wine"],
    },
  ],
  webdav: [
    { places: ["litmus"], packages: ["litmus"] },
    { places: ["cadaver"], packages: ["cadaver"] },
    { places: ["rclone"], packages: ["rclone"] },
  ],
  davfs2: [{ places: ["/usr/sbin/mount.davfs"], packages: ["davfs2"] }],
  ceph: [
    { places: ["radosgw"], packages: ["radosgw"] },
    { places: ["ceph-mon"], packages: ["ceph-mon"] },
    { places: ["ceph-osd"], packages: ["ceph-osd"] },
    { places: ["ceph-authtool"], packages: ["ceph-common"] },
  ],
};

const placed = ({ places }) =>
  places
    .map((place) => (place.startsWith("/") ? place : which(place)))
    .find((path) => path && existsSync(path));

/** Sets the variable of a program to its path, after installing it if it is missing. */
async function provide(program) {
  const { variable, packages } = program;
  const set = variable && process.env[variable];
  if (set) {
    if (existsSync(set)) return;
    throw new Error(`${variable} names ${set}, which is not there`);
  }
  const where = variable ? `set ${variable} to its path` : "add its folder to PATH";
  if (!placed(program)) await apt(packages, `install it and ${where}`);
  const found = placed(program);
  if (!found) throw new Error(`${packages.join(", ")} gave no program: ${where}`);
  if (variable) process.env[variable] = found;
}

/**
 * Installs the Debian packages of all these needs by one command: no package is replaced later, while
 * a browser or a server runs.
 */
export function ensurePrograms(names) {
  return locked("programs", async () => {
    const missing = names
      .flatMap((name) => PROGRAMS[name] ?? [])
      .filter((program) => !process.env[program.variable ?? ""] && !placed(program));
    if (missing.length === 0) return;
    const packages = new Set(missing.flatMap((program) => program.packages));
    await apt([...packages], "install them");
  });
}

/** An environment of Python with these packages. */
async function venv(home, packages) {
  const python = which("python3");
  const { code } = python ? await run("python3", ["-c", "import venv, ensurepip"]) : { code: 1 };
  if (code !== 0) await apt(["python3-venv"], "install Python 3 with venv");
  await must("python3", ["-m", "venv", home]);
  // Modules that are never imported are not compiled; the others are when they are.
  await must(join(home, "bin/pip"), ["install", "--quiet", "--no-compile", ...packages]);
}

async function moto() {
  const home = join(tools, "moto");
  process.env.KITBAG_MOTO = join(home, "bin/moto_server");
  if (existsSync(process.env.KITBAG_MOTO)) return;
  say("installing moto");
  await venv(home, ["moto[server]==5.2.5"]);
}

/** An environment with what the tests of the Python package need, and that package as it is published. */
async function python() {
  await ensure("component");
  const home = join(tools, "python");
  process.env.KITBAG_PYTHON = join(home, "bin/python");
  const list = at("tests/python/requirements.txt");
  const has = (name, text) => {
    const file = join(home, name);
    return existsSync(file) && readFileSync(file, "utf8") === text;
  };
  const wanted = readFileSync(list, "utf8");
  if (!has("requirements.txt", wanted)) {
    say("installing the Python packages of the tests");
    await venv(home, ["--requirement", list]);
    writeFileSync(join(home, "requirements.txt"), wanted);
  }
  const wheel = await buildPython(process.env.KITBAG_PYTHON);
  const print = createHash("sha256").update(readFileSync(wheel)).digest("hex");
  if (has("wheel", print)) return;
  const options = ["install", "--quiet", "--no-deps", "--force-reinstall"];
  await must(join(home, "bin/pip"), [...options, wheel]);
  writeFileSync(join(home, "wheel"), print);
}

/** What is provided by Debian packages alone. */
const programs = Object.fromEntries(
  Object.entries(PROGRAMS).map(([name, all]) => [
    name,
    async () => {
      for (const program of all) await provide(program);
    },
  ]),
);

const steps = {
  ...programs,
  moto,
  python,
  "wasm-target": wasmTarget,
  "rust-components": rustComponents,
  crates,
  /** Runs tests of the crate as WebAssembly; what the build needs of wasm-bindgen is in the splitter. */
  "wasm-bindgen": async () => {
    await ensure("wasm-target");
    // Its test runner asks a driver on this machine, so without TLS.
    await cargoTool("wasm-bindgen-cli", "wasm-bindgen", {
      version: wasmBindgenVersion(),
      bare: ["--no-default-features", "--bin", "wasm-bindgen", "--bin", "wasm-bindgen-test-runner"],
    });
  },
  splitter: () => buildSplitter(say),
  "wasm-pack": async () => {
    await ensure("wasm-bindgen");
    await cargoTool("wasm-pack", "wasm-pack", { version: "0.15.1" });
  },
  npm: () => npmPackages(at()),
  www: () => npmPackages(at("www")),
  chromedriver: async () => {
    await ensure("chromium");
    await programs.chromedriver();
  },
  /** The package in `pkg/`, as it is published. */
  build: () => buildPackage(),
  /** The component in `.cache/component/`. */
  component: async () => {
    await ensureAll(["npm", "wasm-target", "npm:component"]);
    await buildComponent();
  },
  /** The package in `.cache/pkg-testing/`, with exports for the test suite. */
  "build:testing": () => buildPackage("testing"),
  /** The package in `.cache/pkg-named/`, with the names of all functions of the WebAssembly. */
  "build:named": () => buildPackage("named"),
};

/** What can be requested, besides `npm:FOLDER`: packages of a folder in `tests/deps`. */
export const known = Object.keys(steps);

function stepOf(name) {
  if (name.startsWith("npm:")) {
    const directory = at("tests/deps", name.slice(4));
    if (!existsSync(join(directory, "package.json"))) {
      throw new Error(`setup: there is no ${directory}/package.json for "${name}"`);
    }
    return () => npmPackages(directory);
  }
  const step = steps[name];
  if (!step)
    throw new Error(`setup: unknown need "${name}"; known: ${known.join(", ")}, npm:FOLDER`);
  return step;
}

const done = new Map();

/** Provides one thing; once per process, unless it failed, and in one process at a time. */
export function ensure(name) {
  let promise = done.get(name);
  if (!promise) {
    promise = (async () => {
      const step = stepOf(name);
      await locked(`setup-${name.replace(/\W/g, "-")}`, step);
    })();
    done.set(name, promise);
    promise.catch(() => done.delete(name));
  }
  return promise;
}

/** Provides several things, one after another. */
export async function ensureAll(names) {
  for (const name of names) await ensure(name);
}

/** Provides everything that `npm run build` needs. */
export async function ensureBuildTools() {
  await ensureAll(["npm", "wasm-target", "splitter"]);
}

if (process.argv[1] === import.meta.filename) {
  const names = process.argv.slice(2);
  try {
    await ensureAll(names.length > 0 ? names : ["splitter", "npm"]);
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
