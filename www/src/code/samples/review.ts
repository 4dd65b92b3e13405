import { begin, StateBackend, undo } from "kitbag";
import { reviewOf, settleReview } from "kitbag/history";

const backend = new StateBackend();
const turn = begin(backend, { by: "agent" });
// Give the turn to your agent's tools.
await turn.write("/plan.md", "1. Measure\n");

const { patch, files = [] } = await reviewOf(turn);
console.log(patch);
const [first] = files.flatMap(({ hunks }) => hunks);
const done = await settleReview(turn, {
  type: "edit",
  hunks: first ? [first.id] : [], // only this part
});
if (done.receipt) await undo(backend, done.receipt);
