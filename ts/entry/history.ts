// `kitbag/history`: what outlives a process: the history of a backend, and turns that are kept; and what
// shows changes to models and people. A page that does not import it has none of its code.

export {
  Branch,
  fork,
  type MergeOptions,
  merge,
} from "../backend/branch.js";
export {
  type HistoryAuthor,
  HistoryBackend,
  type HistoryEntry,
  type HistoryLog,
  type HistoryLogOptions,
  type HistoryMoment,
  type HistoryOptions,
  type HistoryWhy,
  type OpenPinResult,
  openPin,
  type PinEntry,
  type PinLoss,
  type PinNameResult,
  PinnedBackend,
  type PinResult,
  type PinsResult,
  type PruneResult,
  type RestoreResult,
  type VerifyResult,
  withHistory,
} from "../backend/history.js";
export {
  beginKept,
  KeptTurn,
  type KeptTurnOptions,
  type KeptTurns,
  keptTurns,
} from "../backend/kept.js";
export type { MergeResult } from "../backend/merging.js";
// For declarations of programs that import only this entry: the names of results are in `kitbag`.
export type {} from "../index.js";
export { type ChangeToolsOptions, changeTools } from "../tool/changes.js";
export {
  type Review,
  type ReviewData,
  type ReviewDecision,
  type ReviewEdit,
  type ReviewFile,
  reviewOf,
  settleReview,
} from "../tool/review.js";
