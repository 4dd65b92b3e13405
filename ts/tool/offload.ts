// Results of any tool as text, so that those that are too large can be saved in a file.

/** A result as text; undefined if it has no such form. */
export function asText(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  try {
    return JSON.stringify(result, undefined, 2);
  } catch {
    return undefined;
  }
}

/** Joins all text blocks into one shorter text if they are too large; other blocks stay. */
export async function offloadBlocks(
  blocks: unknown[],
  shrink: (text: string) => Promise<string>,
): Promise<unknown[]> {
  const text = (block: unknown): string | undefined => {
    const it = block as { type?: unknown; text?: unknown } | null;
    return it?.type === "text" && typeof it.text === "string" ? it.text : undefined;
  };
  const texts = blocks.map(text);
  if (!texts.some((one) => one !== undefined)) {
    const whole = asText(blocks) ?? "";
    const media = blocks.some(
      (block) => typeof (block as { type?: unknown } | null)?.type === "string",
    );
    const short = media ? whole : await shrink(whole);
    return short === whole ? blocks : [{ type: "text", text: short }];
  }
  const whole = texts.filter((one) => one !== undefined).join("\n");
  const short = await shrink(whole);
  if (short === whole) return blocks;
  return [{ type: "text", text: short }, ...blocks.filter((_, at) => texts[at] === undefined)];
}
