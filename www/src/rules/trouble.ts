// Where the code of the rules is wrong. A browser tells the place of a syntax error in its own way:
// Firefox in the error, Chromium only to the page, when a script element has the same source.

export interface Trouble {
  message: string;
  /** From 1. Absent where the code runs, and what it gives is no policy. */
  line?: number;
  column?: number;
}

interface Place {
  line: number;
  column: number;
}

/** What errors of Firefox have more. */
interface InFirefox extends Error {
  fileName?: string;
  lineNumber?: number;
  columnNumber?: number;
}

/** The place that the page is told when it runs the module. */
function reported(address: string): Promise<Place | undefined> {
  return new Promise((resolve) => {
    const script = document.createElement("script");
    const end = (place?: Place) => {
      removeEventListener("error", hear, true);
      script.remove();
      resolve(place);
    };
    const hear = (event: ErrorEvent) => {
      if (event.filename !== address) return;
      // It is shown beside the code, and is no failure of the page.
      event.preventDefault();
      end({ line: event.lineno, column: event.colno });
    };
    addEventListener("error", hear, true);
    script.type = "module";
    script.onload = () => end();
    script.onerror = () => end();
    script.src = address;
    document.head.append(script);
  });
}

/** What is wrong, and where, after an import of this address failed with this error. */
export async function troubleOf(error: unknown, address: string): Promise<Trouble> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack = "" } = error;
  const { lineNumber, columnNumber, fileName }: InFirefox = error;
  if (fileName === address && lineNumber) {
    return { message, line: lineNumber, column: columnNumber ?? 1 };
  }
  const inStack = stack.slice(Math.max(0, stack.indexOf(address)));
  const [, line, column] = /^.*?:(\d+):(\d+)/.exec(inStack.slice(address.length)) ?? [];
  if (inStack.startsWith(address) && line) {
    return { message, line: Number(line), column: Number(column) };
  }
  if (!(error instanceof SyntaxError)) return { message };
  return { message, ...(await reported(address)) };
}

/** The trouble as a sentence. */
export const sentence = ({ message, line }: Trouble) =>
  line === undefined ? message : `Line ${line}: ${message}`;
