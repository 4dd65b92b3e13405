// VS Code's own code around a provider, in one process: its file service, both ends of its extension host's
// file systems, and the managers of its searches. Only the window and the wire between the ends are left out.

import { fileSystemProvider } from "kitbag/vscode";

const HOME = new URL("../deps/editor/node_modules/@codingame/", import.meta.url);
const API = "monaco-vscode-api/vscode/src/vs";
const load = (path) => import(new URL(path, HOME).href);

const [
  types,
  searchTypes,
  { URI },
  { VSBuffer },
  { CancellationTokenSource },
  files,
  search,
  glob,
] = await Promise.all(
  [
    "workbench/api/common/extHostTypes.js",
    "workbench/services/search/common/searchExtTypes.js",
    "base/common/uri.js",
    "base/common/buffer.js",
    "base/common/cancellation.js",
    "platform/files/common/files.js",
    "workbench/services/search/common/search.js",
    "base/common/glob.js",
  ].map((path) => load(`${API}/${path}`)),
);
const [{ FileService }, { MainThreadFileSystem }, { ExtHostFileSystem }, { ExtHostSearch }] =
  await Promise.all([
    load("monaco-vscode-files-service-override/vscode/src/vs/platform/files/common/fileService.js"),
    load(
      "monaco-vscode-extensions-service-override/vscode/src/vs/workbench/api/browser/mainThreadFileSystem.js",
    ),
    load(`${API}/workbench/api/common/extHostFileSystem.js`),
    load(`${API}/workbench/api/common/extHostSearch.js`),
  ]);

/** The module `vscode` of an extension, as far as it is used. */
export const vscode = {
  ...{ Uri: URI, FileSystemError: types.FileSystemError, Range: types.Range },
  ...{ FileType: types.FileType, FileChangeType: types.FileChangeType },
  TextSearchMatch2: searchTypes.TextSearchMatch2,
  TextSearchContext2: searchTypes.TextSearchContext2,
};
export const { FileOperationResult } = files;
export { glob };

export const uri = (path) => URI.from({ scheme: "kitbag", path });
const bytes = (text) =>
  typeof text === "string" ? VSBuffer.fromString(text) : VSBuffer.wrap(text);

const silent = new Proxy({}, { get: () => () => {} });

/** An editor with a backend as the files of the scheme `kitbag`. `change` may wrap the provider. */
export async function editorOf(backend, change = (provider) => provider) {
  const provider = fileSystemProvider(backend, vscode);
  const service = new FileService(silent);
  let host;
  const far = new MainThreadFileSystem(
    {
      getProxy: ({ sid }) =>
        sid === "ExtHostFileSystem"
          ? new Proxy(
              {},
              {
                get:
                  (_, name) =>
                  (...args) =>
                    host[name](...args),
              },
            )
          : silent,
    },
    service,
  );
  host = new ExtHostFileSystem(
    { getProxy: () => far },
    {
      registerDocumentLinkProvider: () => ({ dispose() {} }),
    },
  );
  const { isReadonly } = provider;
  const extension = { identifier: { value: "kitbag" } };
  const options = { isCaseSensitive: true, isReadonly };
  host.registerFileSystemProvider(extension, "kitbag", change(provider), options);
  const results = [];
  const searches = new ExtHostSearch(
    {
      getProxy: () => ({
        ...{ $registerTextSearchProvider() {}, $registerFileSearchProvider() {} },
        $handleTextMatch: (_handle, _session, found) => results.push(...found),
        $handleFileMatch: (_handle, _session, found) => results.push(...found),
      }),
    },
    { transformOutgoingScheme: (scheme) => scheme },
    silent,
  );
  searches.registerTextSearchProvider("kitbag", provider);
  searches.registerFileSearchProvider("kitbag", provider);
  const token = new CancellationTokenSource();
  const folderQueries = (path) => [{ folder: uri(path) }];
  const patterns = (names) => names && Object.fromEntries(names.map((name) => [name, true]));
  return {
    provider,
    service,
    /** Opens a file: its text, and what a save compares. */
    open: async (path) => {
      const { value, mtime, etag, size } = await service.readFile(uri(path));
      return { text: value.toString(), mtime, etag, size };
    },
    /** Saves a file that was opened; without that, replaces it. */
    save: (path, text, { mtime, etag } = {}) =>
      service.writeFile(uri(path), bytes(text), mtime === undefined ? {} : { mtime, etag }),
    create: (path, text, overwrite = false) =>
      service.createFile(uri(path), bytes(text), { overwrite }),
    folder: (path) => service.createFolder(uri(path)),
    rename: (from, to, overwrite = false) => service.move(uri(from), uri(to), overwrite),
    copy: (from, to, overwrite = false) => service.copy(uri(from), uri(to), overwrite),
    remove: (path, recursive = true) => service.del(uri(path), { recursive }),
    stat: (path) => service.resolve(uri(path), { resolveMetadata: true }),
    exists: (path) => service.exists(uri(path)),
    /** What the explorer shows of a folder: names, those of folders with a slash. */
    list: async (path) => {
      const { children } = await service.resolve(uri(path));
      return children.map(({ name, isDirectory }) => (isDirectory ? `${name}/` : name)).sort();
    },
    watch: (path, options = {}) =>
      service.watch(uri(path), { recursive: true, excludes: [], ...options }),
    /** Find in files: `[path, line, column, text]` for each place. */
    find: async (pattern, more = {}) => {
      const {
        isRegExp,
        isCaseSensitive,
        isWordMatch,
        path = "/",
        include,
        exclude,
        ...query
      } = more;
      results.length = 0;
      const complete = await searches.$provideTextSearchResults(
        0,
        1,
        {
          type: search.QueryType.Text,
          contentPattern: { pattern, isRegExp, isCaseSensitive, isWordMatch },
          folderQueries: folderQueries(path),
          ...(include && { includePattern: patterns(include) }),
          ...(exclude && { excludePattern: patterns(exclude) }),
          ...query,
        },
        more.token ?? token.token,
      );
      const places = results.flatMap(({ resource, results: found }) =>
        found
          .filter(({ rangeLocations }) => rangeLocations)
          .flatMap(({ previewText, rangeLocations }) =>
            rangeLocations.map(({ source, preview }) => [
              resource.path,
              source.startLineNumber,
              source.startColumn,
              previewText.slice(preview.startColumn, preview.endColumn),
            ]),
          ),
      );
      const context = results.flatMap(({ results: found }) =>
        found
          .filter(({ lineNumber }) => lineNumber)
          .map(({ lineNumber, text }) => [lineNumber, text]),
      );
      return { places, context, limitHit: Boolean(complete.limitHit), results: [...results] };
    },
    /** Quick open: paths. */
    quick: async (filePattern, { path = "/", exclude, include, ...query } = {}) => {
      results.length = 0;
      const { limitHit } = await searches.$provideFileSearchResults(
        1,
        1,
        {
          type: search.QueryType.File,
          filePattern,
          folderQueries: folderQueries(path),
          ...(include && { includePattern: patterns(include) }),
          ...(exclude && { excludePattern: patterns(exclude) }),
          ...query,
        },
        token.token,
      );
      return { paths: results.map(({ path: one }) => one).sort(), limitHit };
    },
  };
}

/** The changes that an editor is told of, until `count` of them are there: `"+/a"`, `"~/a"`, `"-/a"`. */
export function heard(editor) {
  const all = [];
  let wake = () => {};
  editor.service.onDidFilesChange(({ rawAdded, rawUpdated, rawDeleted }) => {
    for (const [sign, some] of [
      ["~", rawUpdated],
      ["+", rawAdded],
      ["-", rawDeleted],
    ]) {
      for (const one of some) all.push(sign + one.path);
    }
    wake();
  });
  return {
    all,
    until: async (wanted) => {
      while (!wanted.every((one) => all.includes(one))) {
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
