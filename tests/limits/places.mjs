// Where each row of docs/limits.md comes from: the constant with its number, or the module of an engine;
// and the test that meets it, if it is not one of this folder (`rows.mjs`, `engines.mjs`).

/** Rows with a number, by their names: file and constant. */
export const BOUNDS = {
  "length of a path": { source: "src/core/path.rs MAX_BYTES" },
  "length of a glob pattern": { source: "src/search/glob/parse.rs MAX_BYTES" },
  "alternatives of a glob pattern": { source: "src/search/glob/parse.rs MAX_ALTERNATIVES" },
  "nested braces of a glob pattern": { source: "src/search/glob/parse.rs MAX_DEPTH" },
  "size of a glob pattern written out": { source: "src/search/glob/parse.rs MAX_WRITTEN_OUT" },
  "length of an expression": { source: "src/search/regex.rs MAX_BYTES" },
  "parts of an expression": { source: "src/search/regex.rs MAX_WEIGHT" },
  "nested groups of an expression": { source: "src/search/regex/light.rs MAX_DEPTH" },
  "ranges in the classes of an expression": { source: "src/search/regex/nfa.rs MAX_RANGES" },
  "files that a listing or search of a pin goes through": {
    source: "src/pins/reader.rs MOST_ENTRIES",
    test: "src/pins/tests.rs › a_planted_tree_without_end_is_left_after_so_many_entries",
  },
  "entries that `log` of a history returns": {
    source: "ts/backend/history.ts LOG_ENTRIES",
    test: "tests/turns/history.test.mjs › log returns 100 entries",
  },
  "files that prove nothing and are kept for a person": {
    source: "src/side/room.rs MOST_ASIDE",
    test: "src/side/tests.rs › only_the_newest_of_many_are_kept_aside",
  },
  "calls of a borrower at once (`lendFiles`)": {
    source: "ts/adapter/lend/lender.ts MOST",
    test: "tests/lend/hostile.test.mjs › more calls at once than it takes",
  },
  "wait for a program that has a file open (Windows)": {
    source: "ts/disk/patient.ts LONGEST_MS",
    test: "tests/windows/programs.test.mjs › a reader sees one version or the other",
  },
  "records of another key that are in the way": {
    source: "src/side/others.rs WAIT",
    test: "src/layer/tests/keys.rs › a_record_of_another_key_stops_only_the_call",
  },
  "length of a `key` of `keepIn`": {
    source: "ts/backend/keep-in.ts LEAST_KEY",
    test: "tests/turns/keys.test.mjs › a key that is none is refused",
  },
  "a text that `sync` merges": {
    source: "src/layer/sync/look.rs MOST_TEXT",
    test: "src/layer/sync/tests.rs › texts_beyond_a_megabyte_stay_both",
  },
  "time between runs of `sync.watch`": {
    source: "ts/backend/sync.ts LEAST_MS",
    test: "tests/sync/watch.test.mjs › wrong options are thrown, or told once",
  },
  "name of a kept turn": {
    source: "src/wasm/history.rs MOST_NAME",
    test: "tests/turns/kept.test.mjs › wrong options are refused",
  },
  ...Object.fromEntries(
    Object.entries({
      "text that the tool read of `agentToolset` shows": "MAX_READ_BYTES",
      "output of its bash and grep": "MAX_OUTPUT",
      "matches that its grep shows": "MAX_MATCHES",
      "paths that its glob shows": "MAX_PATHS",
      "time of its bash in ms": "COMMAND_MS",
    }).map(([row, name]) => [
      row,
      {
        source: `ts/adapter/anthropic/toolset.ts ${name}`,
        test: "tests/seats/anthropic-toolset.test.mjs › limits: long files, long output",
      },
    ]),
  ),
  "bytes of XML in a request of WebDAV": {
    source: "ts/adapter/server/dav/xml.ts BYTES",
    test: "tests/webdav/attacks.test.mjs › a body of a megabyte",
  },
  "nested elements of a request of WebDAV": {
    source: "ts/adapter/server/dav/xml.ts DEEPEST",
    test: "tests/webdav/attacks.test.mjs › 100,000 nested elements",
  },
  "bytes of locks, properties and empty directories of WebDAV": {
    source: "ts/adapter/server/dav/record.ts BYTES",
    test: "tests/webdav/locks.test.mjs › what is known has a bound",
  },
  "time of a lock of WebDAV": {
    source: "ts/adapter/server/dav/locking.ts LONGEST_S",
    test: "tests/webdav/locks.test.mjs › locks end by themselves",
  },
  "levels of a recursive listing for Mastra": {
    source: "ts/adapter/mastra/directories.ts DEPTH",
    test: "tests/seats/mastra.test.mjs › a recursive listing ends after 100 levels",
  },
  "bytes of a search result": { source: "src/search/matches.rs MAX_ANSWER_BYTES" },
  "a line in a search result": { source: "src/search/matches.rs MAX_ANSWER_BYTES" },
  "time of a search without timeoutMs": { source: "src/search/patience.rs MOST" },
  "steps of matching paths in a search": {
    source: "src/search/effort.rs PATHS",
    test: "src/search/ignore/tests.rs › an_ignore_file_of_a_megabyte",
  },
  "steps of a comparison by lines": {
    source: "src/search/diff.rs EFFORT",
    test: "src/search/diff/tests.rs › no_two_texts_of_a_megabyte",
  },
  "lines that `applyPatch` compares to find the places of hunks in a file": {
    source: "ts/backend/patch.ts COMPARED",
    test: "tests/limits/engines.mjs › hunks far from their lines",
  },
  "lines of a file that a patch of `patchEditor` compares to find the places of its sections": {
    source: "ts/adapter/openai/places.ts COMPARED",
    test: "tests/seats/large.test.mjs › a difference that would take too long is refused",
  },
  "steps in which a search of Mastra or VS Code finds the columns of its matches": {
    source: "ts/adapter/framework/column.ts WORK",
    test: "tests/seats/large.test.mjs › columns in very long lines",
  },
  "work between two pauses of a search": {
    source: "src/core/pace.rs SLICE",
    test: "tests/host/search-aborts.test.mjs › other work goes on",
  },
  "a file in a search index": {
    source: "src/layer/indexed/sift.rs MAX_FILE",
    test: "src/layer/indexed/tests.rs › a_file_over_the_limit_is_not_indexed",
  },
  "a file in the search index of a database": {
    source: "src/storage/sql/index/terms.rs MAX_INDEXED",
    test: "tests/durable/search-index.mjs › over the limit",
  },
  "candidates of the search index of a database": {
    source: "src/storage/sql/index/terms.rs FEW",
    test: "tests/durable/search-index.mjs › with too many candidates",
  },
  "bytes that a search in a sandbox fetches": { source: "src/storage/sandbox/mod.rs SEARCHED" },
  "bytes of a StateBackend": { source: "src/storage/memory.rs DEFAULT_MAX_BYTES" },
  "maxBytes of a StateBackend": { source: "src/boundary/state.rs max_bytes" },
  "size of an edited file": { source: "src/search/replace.rs MAX_BYTES" },
  "size of a file on disk": { source: "ts/backend/filesystem.ts MAX_FILE_BYTES" },
  "output of a sandbox's own scripts": { source: "ts/backend/sandbox.ts OWN_OUTPUT" },
  "length of an S3 key": { source: "src/storage/s3/bucket.rs MAX_KEY" },
  "size of a file in S3": { source: "src/storage/s3/store.rs MAX_FILE" },
  "nested elements of an answer of S3": { source: "src/storage/s3/xml.rs DEEPEST" },
  "namespace of a SQL table": { source: "src/storage/sql/dialect.rs NAMESPACE_BYTES" },
  "most failed files that the result of a copy names": {
    source: "ts/adapter/transfer/tally.ts SHOWN_FAILURES",
    test: "tests/transfer/copy.test.mjs › the first 100 failures are named",
  },
  "files of a mirror": {
    source: "ts/adapter/mirror/mirror.ts MOST_FILES",
    test: "tests/transfer/mirror.test.mjs › limits of number and size end it",
  },
  "bytes of a mirror": {
    source: "ts/adapter/mirror/mirror.ts MOST_BYTES",
    test: "tests/transfer/mirror.test.mjs › limits of number and size end it",
  },
  "files of an archive": {
    source: "ts/adapter/transfer/archive.ts MAX_FILES",
    test: "tests/transfer/archives.test.mjs › the limit of the entries is 100,000",
  },
  "bytes of all files of an archive": {
    source: "ts/adapter/transfer/archive.ts MAX_BYTES",
    test: "tests/transfer/archives.test.mjs › limits of bytes hold",
  },
  "bytes of one file of an archive": {
    source: "ts/adapter/transfer/archive.ts MAX_FILE_BYTES",
    test: "tests/transfer/archives.test.mjs › limits of bytes hold",
  },
  "bytes of a zip archive": {
    source: "ts/adapter/zip.ts MAX_ARCHIVE_BYTES",
    test: "tests/transfer/archives.test.mjs › limits of bytes hold",
  },
  "links to directories in a tree that is copied": {
    source: "ts/adapter/transfer/tree.ts MAX_LINKS",
    test: "tests/transfer/folders.test.mjs › more than 10,000 links",
  },
  "paths of a batch in a span": {
    source: "ts/adapter/opentelemetry.ts SPAN_PATHS",
    test: "tests/traces/traces.test.mjs › a batch names 32 paths",
  },
  "size of a file that the command `kitbag` reads from a folder": {
    source: "ts/adapter/command/address.ts MAX_FILE_BYTES",
    test: "tests/command/command.test.mjs › larger than 2 GiB",
  },
  "changes that `watch` names at once": {
    source: "ts/core/listeners.ts EVENTS",
    test: "tests/host/watching.test.mjs › a flood of changes",
  },
  "characters of a patch in `diff` and in a review": {
    source: "ts/tool/review.ts SHOWN",
    test: "tests/tools/adapters/changes.test.mjs › is capped",
  },
  "characters of the diff of a dry run over MCP": {
    source: "ts/adapter/mcp/dry-run.ts SHOWN",
    test: "tests/tools/adapters/mcp-dry-run.test.mjs › is cut at a line",
  },
  "files that `undo` and `commit` name": {
    source: "ts/tool/changes.ts NAMED",
    test: "tests/tools/adapters/changes.test.mjs › names some of them",
  },
  "changes of a turn that `undo` knows": {
    source: "ts/tool/bases.ts RECEIPTS",
    test: "tests/tools/adapters/changes.test.mjs › the last 256 changes",
  },
  "entries of a history among which `undo` looks": {
    source: "ts/tool/bases.ts ENTRIES",
    test: "tests/tools/adapters/changes.test.mjs › the newest 1,000 entries",
  },
  "clients of `kitbag serve --http`": {
    source: "ts/adapter/command/sdk.ts MOST_SESSIONS",
    test: "tests/command/serve.test.mjs › the oldest of more than 100 sessions",
  },
  "reads with a label that a conversation lists": {
    source: "src/protocol/origin.rs REMEMBERED",
    test: "tests/provenance/labels.test.mjs › a hundred reads are remembered",
  },
  "length of a label": {
    source: "src/layer/provenance/sound.rs LONGEST",
    test: "tests/component/provenance.test.mjs › a huge label",
  },
  "attempts of an edit beside other writers": { source: "src/storage/mod.rs REPLAYS" },
  "attempts of an inspected edit": { source: "src/layer/policy/inspect.rs REPLAYS" },
  "attempts of an adapter's change": {
    source: "ts/adapter/changes.ts TRIES",
    test: "tests/tools/memory.test.mjs › other writers keep changing",
  },
  "counts of a quota beside other writers": { source: "src/layer/policy/usage.rs RECOUNTS" },
  "pages of a CustomBackend's listing": { source: "src/storage/custom.rs MAX_PAGES" },
  "wait for a change that was given up": {
    source: "src/core/unsettled.rs PATIENCE",
    test: "tests/host/cancelled.test.mjs › without timeoutMs a later write is told",
  },
  "answer to a change of S3 that was given up": {
    source: "ts/core/http.ts LATE_MS",
    test: "tests/host/cancelled-buckets.test.mjs › a change that hangs for a minute",
  },
  "validity of a presigned request": { source: "ts/backend/presign.ts LONGEST" },
  "longest timer": { source: "ts/core/after.ts LONGEST" },
  "matches that the tool grep shows": { source: "src/tool/schema.rs MATCHES" },
  "length of a line that the tool grep shows": { source: "src/tool/grep.rs WIDTH" },
  "context lines of the tool grep": { source: "src/tool/grep.rs CONTEXT" },
  "lines that the tool read_file shows": { source: "src/tool/schema.rs LINES" },
  "length of a line that the tool read_file shows whole": { source: "src/tool/render.rs LINE" },
  "media that the tool read_file shows": { source: "src/tool/read_file.rs MAX_MEDIA" },
  "entries that the tool ls shows": { source: "src/tool/ls.rs MOST" },
  "text of a tool's own answer": { source: "src/tool/mod.rs OWN_CAP" },
  "result of a tool that is shown": { source: "src/tool/schema.rs RESULT_TOKENS" },
  "message of a user that is shown": { source: "src/tool/schema.rs MESSAGE_TOKENS" },
  "time limit of the tool execute": {
    source: "src/tool/schema.rs EXECUTE_SECONDS",
    test: "tests/tools/adapters/bash.test.mjs › over the limit of 3600",
  },
};

/** Engines, by their names: the module. */
export const MODULES = {
  "literals, searched": { source: "src/search/grep.rs" },
  "expressions, searched": { source: "src/search/regex/lazy.rs" },
  "expressions, compiled": { source: "src/search/regex.rs" },
  "glob patterns": { source: "src/search/glob.rs" },
  "ignore files": { source: "src/search/ignore.rs" },
  differences: { source: "src/search/diff.rs" },
  merges: { source: "src/search/merge.rs" },
  "undo of a receipt": { source: "src/layer/turn/overlay/diff.rs" },
  patches: { source: "ts/backend/patch.ts" },
  "V4A patches": { source: "ts/adapter/openai/v4a.ts" },
  "columns for Mastra and VS Code": {
    source: "ts/adapter/framework/column.ts",
    test: "tests/seats/large.test.mjs › columns in very long lines",
  },
  replacing: { source: "src/search/replace.rs" },
  "nearest lines": { source: "src/tool/nearest.rs" },
  paging: { source: "src/search/lines.rs" },
  archives: {
    source: "ts/adapter/transfer/archive.ts",
    test: "tests/transfer/worst.test.mjs › the worst megabyte",
  },
  "index segments": {
    source: "src/layer/indexed/segment.rs",
    test: "src/layer/indexed/tests/hostile.rs › searches_and_updates_end_whatever_is_sealed",
  },
  records: { source: "src/side/parts.rs" },
  XML: {
    source: "src/storage/s3/xml.rs",
    test: "src/storage/s3/xml.rs › a_document_of_a_megabyte_takes_no_time",
  },
  "XML of WebDAV": {
    source: "ts/adapter/server/dav/xml.ts",
    test: "tests/webdav/worst.test.mjs › the worst bodies",
  },
  JSON: { source: "src/remote/json.rs" },
};
