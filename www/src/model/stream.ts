// Requests to a provider: failures in words, and the events of a streamed answer.

const MEANS: Record<number, string> = {
  400: "The provider refuses the request",
  401: "The provider does not accept this key",
  403: "The provider does not allow this key to do that",
  404: "The provider has no such model or address",
  429: "The provider limits how much this key may ask",
};

/** What a provider says about a failure: its message, or the start of its text. */
function said(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } };
    if (error?.message) return error.message;
  } catch {
    // No JSON.
  }
  return text.trim().slice(0, 300);
}

async function failure(response: Response, key: string): Promise<Error> {
  const { status } = response;
  const means = MEANS[status] ?? (status >= 500 ? "The provider has a problem" : "It failed");
  const wait = response.headers.get("retry-after");
  const parts = [
    `${means} (${status}).`,
    said(await response.text()),
    wait && /^\d+$/.test(wait) ? `Try again in ${wait} seconds.` : "",
  ];
  // A provider may repeat what it was sent.
  const words = parts.filter(Boolean).join(" ");
  return new Error(key ? words.replaceAll(key, "…") : words);
}

/** Sends a request; throws what went wrong in words. */
export async function ask(url: string, key: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Error(
      `No answer from ${new URL(url).origin}: the address is wrong, there is no network, or the server does not allow this page by CORS.`,
      { cause: error },
    );
  }
  if (!response.ok) throw await failure(response, key);
  return response;
}

/** The events of an answer: `data:` lines of JSON. */
export async function* events(response: Response): AsyncGenerator<Record<string, unknown>> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error: unknown) => {
      if ((error as Error).name === "AbortError") throw error;
      throw new Error("The answer broke off before its end.", { cause: error });
    });
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data:")) continue;
      const data = line.slice(5).trim();
      if (data !== "" && data !== "[DONE]") yield JSON.parse(data) as Record<string, unknown>;
    }
  }
}
