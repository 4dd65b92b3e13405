// One request by `fetch`, for the wasm: told in one call and answered in one promise, since every
// header that crosses by itself costs more than it says. What requests mean is not known here.

/** What came back. */
type Answer = [status: number, headers: string, body: Uint8Array];

/** Why nothing came back; the host's own sentence may show the whole signed address. */
interface NoAnswer {
  /** Whether the answer began and then broke off. */
  broken: boolean;
  /** Whether a page asked another origin, so that CORS may be the cause. */
  crossOrigin: boolean;
  /** The host's code for it, such as `ECONNREFUSED`. */
  code: string | undefined;
}

/** The headers of an answer that anybody looks at. Asking for each is quicker than going through all. */
const WANTED = [
  "etag",
  "content-type",
  "content-length",
  "content-encoding",
  "content-range",
  "last-modified",
  "retry-after",
  "x-amz-meta-kitbag",
];

/** No header's name or value can hold it. */
const SEPARATOR = "\0";

/** Browsers cache answers and add cookies unless told otherwise; some Workers refuse to be told. */
const inBrowser =
  typeof navigator === "object" && navigator?.userAgent?.startsWith("Mozilla/") === true;

/**
 * Sends one request, whose headers are names and values in turn. The promise never rejects; the
 * controller gives the request up.
 */
export function send(
  method: string,
  url: string,
  flatHeaders: string,
  body: Uint8Array<ArrayBuffer> | undefined,
): [answer: Promise<Answer | NoAnswer>, controller: AbortController] {
  const headers: Record<string, string> = {};
  const parts = flatHeaders.split(SEPARATOR);
  for (let at = 0; at + 1 < parts.length; at += 2) headers[parts[at] ?? ""] = parts[at + 1] ?? "";
  const controller = new AbortController();
  const init: RequestInit = { method, headers, redirect: "manual", signal: controller.signal };
  if (body) init.body = body;
  if (inBrowser) {
    init.cache = "no-store";
    init.credentials = "omit";
  }
  return [answered(url, init), controller];
}

async function answered(url: string, init: RequestInit): Promise<Answer | NoAnswer> {
  let broken = false;
  try {
    const response = await fetch(url, init);
    broken = true;
    let headers = "";
    for (const name of WANTED) {
      const value = response.headers.get(name);
      if (value !== null) headers += `${name}${SEPARATOR}${value}${SEPARATOR}`;
    }
    return [response.status, headers, new Uint8Array(await response.arrayBuffer())];
  } catch (error) {
    return { broken, crossOrigin: !broken && isCrossOrigin(url), code: codeOf(error) };
  }
}

function isCrossOrigin(url: string): boolean {
  const origin = globalThis.location?.origin;
  if (typeof origin !== "string") return false;
  try {
    return new URL(url).origin !== origin;
  } catch {
    return false;
  }
}

/** The code of a failure or of its cause, if it looks like a code. */
function codeOf(error: unknown): string | undefined {
  const own = (value: unknown) => {
    const code = (value as { code?: unknown } | null | undefined)?.code;
    return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? code : undefined;
  };
  return own(error) ?? own((error as { cause?: unknown } | null | undefined)?.cause);
}
