// The module `vscode` of an extension: the editor's own classes, and a registration that reads the root.

import assert from "node:assert/strict";

const HOME = "../../../deps/editor/node_modules/@codingame/monaco-vscode-api/vscode/src/vs/";
const load = (path) => import(new URL(HOME + path, import.meta.url).href);

export const { FileSystemError, Range } = await load("workbench/api/common/extHostTypes.js");
export const { URI: Uri } = await load("base/common/uri.js");

export const workspace = {
  async registerFileSystemProvider(scheme, provider, { isReadonly }) {
    assert.equal(isReadonly, false);
    const names = await provider.readDirectory(Uri.from({ scheme, path: "/" }));
    assert.ok(names.length > 0);
  },
};
