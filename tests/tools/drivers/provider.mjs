// A provider's service, inside the process: the SDK's own client sends its requests to this `fetch`,
// and a scripted model answers them. So it is the same in pages and in Workers, where a server
// on this machine would be another origin.

/** `answer` gets the body of each request and makes that of its response. */
export function provider(answer) {
  return async (_url, { body }) => Response.json(answer(JSON.parse(body)));
}

/** A tool of the user's own, whose result is too large to show. */
export const REPORT = {
  name: "large_report",
  description: "A long report",
  schema: { type: "object", properties: {} },
};

export const base = {
  apiKey: "none",
  baseURL: "http://provider.test",
  maxRetries: 0,
  // The key is none, so a page may hold it.
  dangerouslyAllowBrowser: true,
};
