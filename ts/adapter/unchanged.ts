// Pages that a conversation was already shown: `read_file` answers with one line if an earlier result
// with the same text is still in front of the model. An adapter knows what the model sees now
// (`ToolCall.shown`), so a result that was summarized or cleared away is sent again. What is kept here
// is only which call read which page.

import type { UnchangedReads } from "kitbag";

/** Most calls to remember. A page of a call that is forgotten is sent again. */
const CALLS = 4_096;
/** A shorter text is sent as it is: the line about it would cost as much. */
const WORTH = 400;

/** The first and the last line number of a page. */
function lines(text: string): string {
  const numbers = [...text.matchAll(/^ *(\d+)/gm)];
  const [first, last] = [numbers[0]?.[1], numbers.at(-1)?.[1]];
  return first === undefined ? "" : ` (lines ${first} to ${last})`;
}

/**
 * For the option `unchanged` of `createFileTools` and the adapters: a page that is read again, with
 * the same bytes, while the model still sees it, is answered with one line that says so and where.
 * `force: true` sends it again. It needs to know what the model sees: `kitbagMiddleware` and the
 * tools of `kitbag/ai` do; `run` of `kitbag/anthropic` and `kitbag/openai` takes it as `messages`, and in your own loop
 * `ToolCall.shown` tells it. Otherwise every page is sent.
 *
 * @example
 * const agent = createAgent({ model, middleware: [kitbagMiddleware(backend, { unchanged: unchangedReads() })] });
 */
export function unchangedReads(): UnchangedReads {
  /** By page, the calls that read it; the least recent first. */
  const pages = new Map<string, string[]>();
  let calls = 0;
  const remember = (page: string, id: string) => {
    const known = pages.get(page) ?? [];
    pages.delete(page);
    pages.set(page, [...known, id]);
    calls += 1;
    for (const [oldest, ids] of pages) {
      if (calls <= CALLS) break;
      pages.delete(oldest);
      calls -= ids.length;
    }
  };
  return {
    describe: (tool) => ({
      ...tool,
      inputSchema: {
        ...tool.inputSchema,
        properties: {
          ...tool.inputSchema.properties,
          force: { type: "boolean", description: "Show the page again even if it is unchanged" },
        },
      },
    }),
    answer: (given, result, call) => {
      if (result.isError || !call?.callId || !Array.isArray(given)) return result;
      const { text, content } = result;
      if (text.length < WORTH || content.some(({ type }) => type !== "text")) return result;
      const named = Object.fromEntries(given as Array<[string, unknown]>);
      const { force, ...asked } = named;
      const page = JSON.stringify(Object.entries(asked).sort(([a], [b]) => (a < b ? -1 : 1)));
      const forced = force === true || force === "true";
      const before = forced
        ? undefined
        : pages.get(page)?.findLast((id) => call.shown?.(id) === text);
      if (before === undefined) {
        remember(page, call.callId);
        return result;
      }
      const line = `[Unchanged${lines(text)}: the file still has the text that your read_file call ${before} shows above. Pass force=true to see it again.]`;
      return { ...result, text: line, content: [{ type: "text", text: line }] };
    },
  };
}
