// What a program sees of a machine on which nobody has worked with this repository: the system, Node and
// Rust's toolchain, and nothing that npm, cargo or this repository's scripts have kept.

import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** Settings of people for the network, which npm and cargo may also be told by variables. */
const NETWORK =
  /^(npm_config_(registry|(https?_|no)?proxy|cafile|ca|strict_ssl)|CARGO_(HTTP|NET|REGISTRIES|SOURCE)_.*)$/i;

/** What npm, cargo and our scripts set for their children, or people for places of files. */
const OURS =
  /^(npm_|NPM_|CARGO|KITBAG_|XDG_|NODE_PATH$|NODE_OPTIONS$|NODE_TEST_CONTEXT$|INIT_CWD$|COLOR$|RUSTFLAGS$)/;

/** The commands of rustup: all that a new machine has in cargo's folder of programs. */
export const TOOLCHAIN = [
  ...["rustup", "cargo", "rustc", "rustdoc", "rustfmt"],
  ...["cargo-fmt", "cargo-clippy", "clippy-driver"],
];

/** The folder of programs that `cargo install` and rustup fill. */
export const cargoBin = ({ CARGO_HOME, HOME = homedir() }) =>
  join(CARGO_HOME ?? join(HOME, ".cargo"), "bin");

/**
 * The variables for a command in the copy of the repository. `folder` takes what it keeps. In `PATH`,
 * the folders of `repository` are left out, and `folder/rust` takes the place of cargo's.
 */
export function freshEnvironment(environment, { folder, repository }) {
  const kept = Object.entries(environment).filter(
    ([name]) => NETWORK.test(name) || !OURS.test(name),
  );
  const inside = (path) => path === repository || path.startsWith(`${repository}/`);
  const path = (environment.PATH ?? "")
    .split(delimiter)
    .filter((part) => !inside(part))
    .map((part) => (part === cargoBin(environment) ? join(folder, "rust") : part));
  return {
    ...Object.fromEntries(kept),
    PATH: path.join(delimiter),
    HOME: join(folder, "home"),
    CARGO_HOME: join(folder, "cargo"),
    npm_config_cache: join(folder, "npm"),
    // The toolchain stays: it is what a new machine must have.
    RUSTUP_HOME: environment.RUSTUP_HOME ?? join(environment.HOME ?? homedir(), ".rustup"),
  };
}
