// `kitbag/history`: what outlives a process: the history of a backend, and turns that are kept; and what
// shows changes to models and people. A page that does not import it has none of its code.

export * from "../backend/history.js";
export * from "../backend/kept.js";
export * from "../tool/changes.js";
export {
  type Review,
  type ReviewDecision,
  type ReviewEdit,
  type ReviewFields,
  type ReviewFile,
  reviewOf,
  settleReview,
} from "../tool/review.js";
