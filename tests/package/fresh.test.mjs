// What `npm run fresh` lets a program see of this machine: nothing that npm, cargo or our scripts kept.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cargoBin, freshEnvironment } from "../../scripts/lib/fresh.mjs";

const places = { folder: "/new", repository: "/home/ann/kitbag" };
const HERE = {
  HOME: "/home/ann",
  PATH: "/home/ann/kitbag/node_modules/.bin:/home/ann/.cargo/bin:/usr/bin:/home/ann/kitbag",
  LANG: "C.UTF-8",
};
const seen = (more = {}) => freshEnvironment({ ...HERE, ...more }, places);

test("home, cargo's home and npm's cache are new; the toolchain stays", () => {
  const { HOME, CARGO_HOME, RUSTUP_HOME, npm_config_cache } = seen();
  assert.deepEqual([HOME, CARGO_HOME, npm_config_cache], ["/new/home", "/new/cargo", "/new/npm"]);
  assert.equal(RUSTUP_HOME, "/home/ann/.rustup");
  assert.equal(seen({ RUSTUP_HOME: "/opt/rustup" }).RUSTUP_HOME, "/opt/rustup");
});

test("PATH has none of the repository's programs, and only rustup's of cargo's", () => {
  assert.equal(seen().PATH, "/new/rust:/usr/bin");
  assert.equal(seen({ PATH: "/home/ann/kitbag-2/bin:/bin" }).PATH, "/home/ann/kitbag-2/bin:/bin");
  assert.equal(seen({ CARGO_HOME: "/c", PATH: "/c/bin:/bin" }).PATH, "/new/rust:/bin");
  assert.equal(cargoBin({ HOME: "/h" }), "/h/.cargo/bin");
});

describe("is not seen", () => {
  for (const [name, value] of [
    ["npm_config_cache", "/home/ann/.npm"],
    ["npm_config_userconfig", "/home/ann/.npmrc"],
    ["NPM_CONFIG_PREFIX", "/home/ann/npm"],
    ["npm_package_name", "kitbag-repo"],
    ["CARGO_HOME", "/home/ann/.cargo"],
    ["CARGO_TARGET_DIR", "/home/ann/target"],
    ["KITBAG_CHROMIUM", "/home/ann/chromium"],
    ["XDG_CACHE_HOME", "/home/ann/.cache"],
    ["NODE_PATH", "/home/ann/modules"],
    ["NODE_TEST_CONTEXT", "child-v8"],
    ["NODE_OPTIONS", "--import=/home/ann/a.mjs"],
    ["RUSTFLAGS", "-Ctarget-cpu=native"],
  ]) {
    test(name, () => assert.notEqual(seen({ [name]: value })[name], value));
  }
});

describe("is seen", () => {
  for (const [name, value] of [
    ["LANG", "C.UTF-8"],
    ["HTTPS_PROXY", "http://proxy.example:3128"],
    ["npm_config_registry", "https://registry.example/"],
    ["npm_config_https_proxy", "http://proxy.example:3128"],
    ["NODE_EXTRA_CA_CERTS", "/etc/ca.pem"],
    ["CARGO_HTTP_PROXY", "proxy.example:3128"],
    ["CARGO_REGISTRIES_OWN_INDEX", "sparse+https://registry.example/"],
  ]) {
    test(name, () => assert.equal(seen({ [name]: value })[name], value));
  }
});
