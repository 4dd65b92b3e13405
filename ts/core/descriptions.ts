// What crosses to WebAssembly. Written from `src/boundary` by
// `KITBAG_WRITE=1 cargo test typescript_has_these_descriptions`; the same test compares them.
// `given.ts` says what the entries mean.

export const RoomGiven = {
  backend: { kind: "handle", own: true },
  path: { kind: "text", own: true },
  key: { kind: "bytes", maybe: true, own: true },
} as const;

export const LsArguments = {
  path: { kind: "path" },
} as const;

export const ReadArguments = {
  path: { kind: "path" },
  offset: { kind: "amount" },
  limit: { kind: "amount" },
} as const;

export const FileArguments = {
  path: { kind: "path" },
  start: { kind: "amount" },
  end: { kind: "amount" },
} as const;

export const GrepArguments = {
  pattern: { kind: "text" },
  path: { kind: "path" },
  glob: { kind: "text", maybe: true },
  maxCount: { kind: "amount" },
  maxPerFile: { kind: "amount" },
  before: { kind: "amount" },
  after: { kind: "amount" },
  regex: { kind: "flag" },
  ignoreCase: { kind: "flag" },
  stats: { kind: "flag" },
} as const;

export const GlobArguments = {
  pattern: { kind: "text" },
  path: { kind: "path" },
} as const;

export const WriteArguments = {
  what: { kind: "words", words: ["text", "raw", "new"] },
  content: { kind: "bytes" },
  path: { kind: "path" },
} as const;

export const EditArguments = {
  whole: { kind: "flag" },
  old: { kind: "bytes" },
  fresh: { kind: "bytes" },
  all: { kind: "flag" },
  path: { kind: "path" },
} as const;

export const DeleteArguments = {
  unchanged: { kind: "bytes", maybe: true },
  path: { kind: "path" },
} as const;

export const TransferArguments = {
  overwrite: { kind: "flag" },
  from: { kind: "path" },
  to: { kind: "path" },
} as const;

export const AppendArguments = {
  content: { kind: "bytes" },
  path: { kind: "path" },
} as const;

export const UploadedFile = {
  path: { kind: "path" },
  content: { kind: "bytes" },
} as const;

export const UploadArguments = {
  onlyFiles: { kind: "flag" },
  files: { kind: "list", of: { kind: "group", fields: UploadedFile } },
} as const;

export const StreamArguments = {
  path: { kind: "path" },
  onlyFiles: { kind: "flag" },
  size: { kind: "amount" },
  most: { kind: "amount" },
} as const;

export const DownloadArguments = {
  paths: { kind: "list", of: { kind: "path" } },
} as const;

export const ExecuteArguments = {
  command: { kind: "text" },
  timeoutMs: { kind: "amount" },
} as const;

export const StateFile = {
  content: { kind: "bytes" },
  path: { kind: "text" },
  ofState: { kind: "flag" },
  v1: { kind: "flag" },
  stored: { kind: "flag" },
  mimeType: { kind: "text", maybe: true },
  created: { kind: "text", maybe: true },
  modified: { kind: "text", maybe: true },
} as const;

export const StatePath = {
  path: { kind: "text" },
} as const;

export const StateGiven = {
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  fileFormat: { kind: "words", words: ["v1", "v2"], usual: "v2" },
  maxBytes: {
    kind: "amount",
    maybe: true,
    most: 2147483648,
    wanted: "at most 2147483648, which is what memory holds",
  },
  graphs: { kind: "function", maybe: true, own: true },
} as const;

export const SqlGiven = {
  query: { kind: "function", own: true },
  dialect: { kind: "words", words: ["postgres", "sqlite"], own: true },
  table: { kind: "text", usual: "files" },
  namespace: {
    kind: "list",
    of: { kind: "text" },
    maybe: true,
    single: true,
    least: 1,
    wanted: "a string or a non-empty array of strings",
  },
  migrate: { kind: "flag" },
  searchIndex: { kind: "flag" },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  maxFileBytes: { kind: "amount", maybe: true, own: true },
} as const;

export const MigrateGiven = {
  from: { kind: "words", words: ["outline"], maybe: true },
  searchIndex: { kind: "flag", maybe: true },
} as const;

export const S3Place = {
  endpoint: { kind: "text", maybe: true },
  region: {
    kind: "text",
    wanted: 'the region of the bucket, such as "us-east-1", or "auto" for R2',
  },
  bucket: { kind: "text" },
  forcePathStyle: { kind: "flag", maybe: true },
} as const;

export const S3RetryGiven = {
  attempts: { kind: "amount", maybe: true, least: 1 },
  baseMs: { kind: "amount", maybe: true },
  maxMs: { kind: "amount", maybe: true },
  timeoutMs: { kind: "amount", maybe: true },
} as const;

export const BucketUse = {
  prefix: { kind: "text", usual: "" },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  concurrency: { kind: "amount", maybe: true, least: 1 },
  cacheBytes: { kind: "amount", maybe: true, own: true },
  retry: { kind: "group", fields: S3RetryGiven, own: true },
} as const;

export const S3Keys = {
  accessKeyId: { kind: "text" },
  secretAccessKey: { kind: "text" },
  sessionToken: { kind: "text", maybe: true },
  expiration: { kind: "amount", maybe: true },
} as const;

export const S3Given = {
  place: { kind: "group", fields: S3Place, own: true },
  usage: { kind: "group", fields: BucketUse, own: true },
  conditions: { kind: "words", words: ["probe", "trust", "ignore"], usual: "probe" },
  credentials: { kind: "group", fields: S3Keys, maybe: true, own: true },
  keysBy: { kind: "function", maybe: true, own: true },
  sign: { kind: "function", maybe: true },
  onWarning: { kind: "function", maybe: true },
  send: { kind: "function", own: true },
} as const;

export const R2Given = {
  usage: { kind: "group", fields: BucketUse, own: true },
  bucket: { kind: "function", own: true },
} as const;

export const Pair = {
  name: { kind: "text" },
  value: { kind: "text" },
} as const;

export const PresignGiven = {
  place: { kind: "group", fields: S3Place, own: true },
  credentials: { kind: "group", fields: S3Keys, own: true },
  method: { kind: "text", own: true },
  key: { kind: "text", own: true },
  query: { kind: "list", of: { kind: "group", fields: Pair }, own: true },
  headers: { kind: "list", of: { kind: "group", fields: Pair }, own: true },
  seconds: { kind: "amount", own: true },
} as const;

export const StoreGiven = {
  store: { kind: "function", own: true },
  namespace: { kind: "list", of: { kind: "text" }, own: true },
  fileFormat: { kind: "words", words: ["v1", "v2"], usual: "v2" },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  binary: { kind: "words", words: ["base64", "raw"], usual: "base64" },
} as const;

export const HubGiven = {
  client: { kind: "function", own: true },
  repo: { kind: "text", own: true },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
} as const;

export const HttpGiven = {
  send: { kind: "function", own: true },
  url: { kind: "text", own: true },
  timeoutMs: { kind: "amount", maybe: true, least: 1 },
} as const;

export const IndexedDbGiven = {
  database: { kind: "text" },
  namespace: { kind: "text", usual: "" },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  durability: { kind: "words", words: ["strict", "relaxed"], usual: "strict" },
  openTimeoutMs: { kind: "amount", usual: 5000 },
  crashProtection: { kind: "flag" },
  tell: { kind: "function", own: true },
} as const;

export const OpfsGiven = {
  directory: { kind: "function", maybe: true, own: true },
  steps: { kind: "list", of: { kind: "text" }, own: true },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  crashProtection: { kind: "flag" },
  tell: { kind: "function", own: true },
} as const;

export const Promises = {
  create: { kind: "words", words: ["storage", "instance", "never"], usual: "instance" },
  update: { kind: "words", words: ["storage", "instance", "never"], usual: "instance" },
  directories: { kind: "words", words: ["implied", "real"], usual: "implied" },
  names: {
    kind: "words",
    words: ["exact", "case", "composition", "case and composition"],
    usual: "exact",
  },
  keepsCreated: { kind: "flag" },
  keepsMime: { kind: "flag" },
  keepsFormat: { kind: "flag" },
  keepsModes: { kind: "flag" },
  keepsBinary: { kind: "flag", usual: true },
  writable: { kind: "flag", usual: true },
  maxFileBytes: { kind: "amount", maybe: true },
  notes: { kind: "list", of: { kind: "text" }, wanted: "an array of strings" },
} as const;

export const CustomGiven = {
  storage: { kind: "function", own: true },
  promises: { kind: "group", fields: Promises, own: true },
  writes: { kind: "flag", own: true },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  fileFormat: { kind: "words", words: ["v1", "v2"], usual: "v2" },
  maxFileBytes: { kind: "amount", maybe: true },
} as const;

export const DiskGiven = {
  disk: { kind: "function", own: true },
  promises: { kind: "group", fields: Promises, own: true },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  id: { kind: "text", maybe: true, own: true },
  execute: { kind: "function", maybe: true, own: true },
} as const;

export const SandboxGiven = {
  id: { kind: "text" },
  execute: { kind: "function", wanted: "a function that runs a command" },
  uploadFiles: { kind: "function", maybe: true },
  downloadFiles: { kind: "function", maybe: true },
  rootDir: { kind: "text", usual: "/" },
  maxFileBytes: { kind: "amount", usual: 10485760 },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  ownExecute: { kind: "function", own: true },
} as const;

export const TurnGiven = {
  base: { kind: "handle", own: true },
  by: { kind: "text", usual: "" },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
} as const;

export const TurnCall = {
  diff: { call: 0, fields: {} },
  commit: { call: 1, fields: {} },
  accept: { call: 2, fields: { hunks: { kind: "list", of: { kind: "text" } } } },
  discard: { call: 3, fields: { patterns: { kind: "list", of: { kind: "text" } } } },
  rebase: { call: 4, fields: { keep: { kind: "list", of: { kind: "text" } } } },
} as const;

export const ChangedFile = {
  path: { kind: "text" },
  before: { kind: "bytes", maybe: true },
  after: { kind: "bytes", maybe: true },
  mode: { kind: "amount", maybe: true },
} as const;

export const CompareGiven = {
  files: { kind: "list", of: { kind: "group", fields: ChangedFile } },
} as const;

export const UndoGiven = {
  base: { kind: "handle" },
  by: { kind: "text" },
  files: { kind: "list", of: { kind: "group", fields: ChangedFile } },
} as const;

export const KeptGiven = {
  turn: { kind: "handle", own: true },
  room: { kind: "group", fields: RoomGiven, own: true },
  name: { kind: "text", maybe: true },
} as const;

export const ThreeWay = {
  before: { kind: "bytes", maybe: true },
  ours: { kind: "bytes", maybe: true },
  now: { kind: "bytes", maybe: true },
} as const;

export const KeptCall = {
  changed: { call: 0, fields: {} },
  showing: { call: 1, fields: { paths: { kind: "list", of: { kind: "text" } } } },
  noted: { call: 2, fields: {} },
  show: { call: 3, fields: { base: { kind: "handle" }, note: { kind: "text", maybe: true } } },
  settle: {
    call: 4,
    fields: { files: { kind: "list", of: { kind: "group", fields: ChangedFile } } },
  },
  merge: { call: 5, fields: { files: { kind: "list", of: { kind: "group", fields: ThreeWay } } } },
  apart: { call: 6, fields: { into: { kind: "handle" } } },
} as const;

export const KeptTurnsGiven = {
  backend: { kind: "handle" },
  path: { kind: "text" },
} as const;

export const KeepGiven = {
  count: { kind: "amount", maybe: true },
  ageMs: { kind: "amount", maybe: true },
  bytes: { kind: "amount", maybe: true },
} as const;

export const HistoryGiven = {
  inner: { kind: "handle", own: true },
  room: { kind: "group", fields: RoomGiven, own: true },
  writeMode: { kind: "words", words: ["create", "overwrite"], usual: "create" },
  keep: { kind: "group", fields: KeepGiven, own: true },
  who: { kind: "function", own: true },
} as const;

export const HistoryCall = {
  log: { call: 0, fields: { path: { kind: "text" }, most: { kind: "amount" } } },
  diff: { call: 1, fields: { from: { kind: "text" }, to: { kind: "text", maybe: true } } },
  restore: { call: 2, fields: { path: { kind: "text" }, moment: { kind: "text" } } },
  why: { call: 3, fields: { path: { kind: "text" } } },
  prune: { call: 4, fields: {} },
  pin: { call: 5, fields: {} },
  unpin: { call: 6, fields: { pin: { kind: "text" } } },
  pins: { call: 7, fields: {} },
  label: { call: 8, fields: { label: { kind: "text" }, pin: { kind: "text" } } },
  labelled: { call: 9, fields: { label: { kind: "text" } } },
  verify: { call: 10, fields: { pin: { kind: "text", maybe: true } } },
} as const;

export const PinnedGiven = {
  history: { kind: "handle" },
  pin: { kind: "text" },
  madeAt: { kind: "amount" },
} as const;

export const SyncGiven = {
  a: { kind: "handle", own: true },
  b: { kind: "handle", own: true },
  room: { kind: "group", fields: RoomGiven, own: true },
  paths: {
    kind: "list",
    of: { kind: "text" },
    wanted: 'an array of patterns such as ["/notes/**"]',
  },
  ignore: {
    kind: "list",
    of: { kind: "text" },
    wanted: 'an array of names such as [".gitignore"]',
  },
  nameA: { kind: "text", own: true },
  nameB: { kind: "text", own: true },
  always: { kind: "words", words: ["both", "a", "b", "leave"], own: true },
  onConflict: { kind: "function", maybe: true, own: true },
  onProgress: { kind: "function", maybe: true },
  compare: { kind: "words", words: ["time", "content"], usual: "time" },
  allowEmpty: { kind: "flag" },
  dryRun: { kind: "flag" },
} as const;

export const RuleGiven = {
  name: { kind: "text", maybe: true },
  operations: { kind: "list", of: { kind: "words", words: ["read", "write"] }, own: true },
  paths: { kind: "list", of: { kind: "text" }, least: 1, wanted: "an array of patterns" },
  mode: { kind: "words", words: ["allow", "deny", "ask"], usual: "allow" },
} as const;

export const RateGiven = {
  kind: {
    kind: "words",
    words: [
      "ls",
      "read",
      "readRaw",
      "grep",
      "glob",
      "write",
      "edit",
      "delete",
      "uploadFiles",
      "downloadFiles",
      "execute",
      "move",
      "copy",
      "append",
    ],
    maybe: true,
    own: true,
  },
  operations: { kind: "amount", wanted: "a whole number, zero or more" },
  perMs: { kind: "amount", least: 1 },
} as const;

export const QuotaGiven = {
  maxBytes: { kind: "amount", maybe: true, narrows: true },
  maxFiles: { kind: "amount", maybe: true, narrows: true },
  maxFileBytes: { kind: "amount", maybe: true, narrows: true },
} as const;

export const PolicyGiven = {
  readOnly: { kind: "flag" },
  readOnlyPrefixes: { kind: "list", of: { kind: "text" }, wanted: "an array of strings" },
  permissions: { kind: "list", of: { kind: "group", fields: RuleGiven }, own: true },
  defaultMode: { kind: "words", words: ["allow", "deny"], usual: "allow" },
  onAsk: { kind: "function", maybe: true },
  askTimeoutMs: { kind: "amount", usual: 60000 },
  rates: { kind: "list", of: { kind: "group", fields: RateGiven }, own: true },
  quota: { kind: "group", fields: QuotaGiven, maybe: true },
  inspect: { kind: "function", maybe: true },
  audit: { kind: "function", maybe: true },
  before: { kind: "function", maybe: true, own: true },
  after: { kind: "function", maybe: true, own: true },
  allowExecute: { kind: "flag", maybe: true },
  hiddenCharacters: { kind: "words", words: ["refuse", "allow"], usual: "refuse" },
} as const;

export const RulesCall = {
  shown: { call: 0, fields: { paths: { kind: "list", of: { kind: "text" } } } },
  reached: { call: 1, fields: { paths: { kind: "list", of: { kind: "text" } } } },
} as const;

export const LabelGiven = {
  paths: {
    kind: "list",
    of: { kind: "text" },
    least: 1,
    wanted: 'an array of patterns such as ["/web/**"]',
  },
  as: { kind: "text" },
} as const;

export const FlowGiven = {
  from: { kind: "text" },
  to: {
    kind: "list",
    of: { kind: "text" },
    least: 1,
    wanted: 'an array of patterns such as ["/web/**"]',
  },
  then: { kind: "words", words: ["refuse", "ask"] },
} as const;

export const ProvenanceGiven = {
  inner: { kind: "handle", own: true },
  labels: { kind: "list", of: { kind: "group", fields: LabelGiven }, own: true },
  flows: { kind: "list", of: { kind: "group", fields: FlowGiven }, own: true },
  onAsk: { kind: "function", maybe: true },
  askTimeoutMs: { kind: "amount", usual: 60000 },
  room: { kind: "group", fields: RoomGiven, maybe: true, own: true },
} as const;

export const ReadGiven = {
  label: { kind: "text" },
  path: { kind: "text" },
  operation: {
    kind: "words",
    words: [
      "ls",
      "read",
      "readRaw",
      "grep",
      "glob",
      "write",
      "edit",
      "delete",
      "uploadFiles",
      "downloadFiles",
      "execute",
      "move",
      "copy",
      "append",
    ],
    usual: "read",
  },
} as const;

export const TaintCall = {
  reads: { call: 0, fields: {} },
  clear: { call: 1, fields: {} },
  conversation: {
    call: 2,
    fields: { reads: { kind: "list", of: { kind: "group", fields: ReadGiven } } },
  },
} as const;

export const LabelsCall = {
  labels: { call: 0, fields: { path: { kind: "text" } } },
  trust: { call: 1, fields: { path: { kind: "text" } } },
} as const;

export const IgnoreGiven = {
  inner: { kind: "handle", own: true },
  files: {
    kind: "list",
    of: { kind: "text" },
    usual: ".gitignore",
    lines: true,
    wanted: "an array of strings without line breaks",
  },
  patterns: {
    kind: "list",
    of: { kind: "text" },
    lines: true,
    wanted: "an array of strings without line breaks",
  },
} as const;

export const IgnoreCall = {
  shown: {
    call: 0,
    fields: { below: { kind: "text" }, paths: { kind: "list", of: { kind: "text" } } },
  },
} as const;

export const IndexGiven = {
  inner: { kind: "handle" },
  keep: { kind: "handle", maybe: true },
  path: { kind: "text" },
  key: { kind: "bytes", maybe: true },
  freshness: { kind: "words", words: ["listing", "writers"] },
} as const;

export const MountGiven = {
  prefix: { kind: "text" },
  backend: { kind: "handle" },
} as const;

export const CompositeGiven = {
  fallback: { kind: "handle" },
  mounts: { kind: "list", of: { kind: "group", fields: MountGiven } },
} as const;

export const ToldTool = {
  tool: {
    kind: "words",
    words: [
      "ls",
      "read_file",
      "write_file",
      "edit_file",
      "delete",
      "glob",
      "grep",
      "execute",
      "move_file",
      "copy_file",
      "append_file",
    ],
  },
  text: { kind: "text" },
} as const;

export const ToolsGiven = {
  tools: {
    kind: "list",
    of: {
      kind: "words",
      words: [
        "ls",
        "read_file",
        "write_file",
        "edit_file",
        "delete",
        "glob",
        "grep",
        "execute",
        "move_file",
        "copy_file",
        "append_file",
      ],
    },
    maybe: true,
    own: true,
  },
  descriptions: { kind: "list", of: { kind: "group", fields: ToldTool }, own: true },
  systemPrompt: { kind: "text", maybe: true },
  resultTokens: { kind: "amount", maybe: true, own: true },
  messageTokens: { kind: "amount", maybe: true, own: true },
  maxExecuteTimeout: { kind: "amount", own: true },
  requireReadBeforeEdit: { kind: "flag", usual: true },
} as const;

export const DescribeGiven = {
  shell: { kind: "flag" },
} as const;

export const ModelValue = {
  null: { call: 0, fields: {} },
  flag: { call: 1, fields: { is: { kind: "flag" } } },
  number: { call: 2, fields: { is: { kind: "amount" } } },
  text: { call: 3, fields: { is: { kind: "text" } } },
  array: { call: 4, fields: {} },
  object: { call: 5, fields: {} },
} as const;

export const ModelMember = {
  name: { kind: "text" },
  value: { kind: "call" },
} as const;

export const ModelInput = {
  members: {
    call: 0,
    fields: { members: { kind: "list", of: { kind: "group", fields: ModelMember } } },
  },
  wrong: { call: 1, fields: { why: { kind: "text" } } },
} as const;

export const ToolCallGiven = {
  input: { kind: "call" },
  name: { kind: "text" },
  call: { kind: "text" },
} as const;

export const OffloadGiven = {
  text: { kind: "text" },
  what: { kind: "words", words: ["result", "message"] },
  call: { kind: "text" },
  tool: { kind: "text" },
} as const;
