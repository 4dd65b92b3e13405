// Questions over several rounds, as the protocol has them since 2026-07-28: a server cannot ask its client
// there. The call ends with the question, and the client makes it again with the answer and with a state
// that the server gave it. The state is signed, so an answer counts for the question that was shown only.

import { digestOf, type Reviewed } from "../../core/reviewed.js";
import { ROOTS } from "./roots.js";
import { askedBy, type Extra } from "./sdk.js";

interface Round {
  name: string;
  input: Record<string, unknown>;
  /** The next call needs the roots too: a client sends only answers to what was asked last. */
  rooted: boolean;
  question?: object;
}

const rounds = new WeakMap<object, Round>();

/** Begins a call of a tool, which may end with a question. */
export function beginRound(
  extra: Extra,
  name: string,
  input: Record<string, unknown>,
  follows: boolean,
): void {
  const { capabilities } = askedBy(extra);
  if (capabilities === undefined) return;
  rounds.set(extra, { name, input, rooted: follows && capabilities.roots !== undefined });
}

/** The question that the call ends with, if it asked one. */
export const questionOf = (extra: Extra): object | undefined => rounds.get(extra)?.question;

/** How long an answer is accepted, and how long a person may think. */
export const PATIENCE_MS = 600_000;

/** Bytes of a key, at least. */
const KEY_BYTES = 32;

/** Signs with the key of the program, or with a random one that lasts as long as the process. */
export type Key = Promise<CryptoKey>;

const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

let ofProcess: Key | undefined;

export function keyOf(given: string | Uint8Array | undefined): () => Key {
  if (given === undefined) {
    const random = () => imported(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
    return () => {
      ofProcess ??= random();
      return ofProcess;
    };
  }
  const bytes = typeof given === "string" ? new TextEncoder().encode(given) : given;
  if (!(bytes instanceof Uint8Array) || bytes.length < KEY_BYTES) {
    throw new TypeError(
      `elicitReview: option "key" must be a string or a Uint8Array of at least ${KEY_BYTES} bytes`,
    );
  }
  const key = imported(bytes.slice());
  return () => key;
}

const imported = (bytes: Uint8Array): Key =>
  crypto.subtle.importKey("raw", bytes as BufferSource, HMAC, false, ["sign", "verify"]);

/** Answers that were accepted here, with the time until which their state is valid. */
const used = new Map<string, number>();

/** An answer of the client's user. */
export interface Answer {
  action?: unknown;
  content?: Record<string, unknown>;
}

const NAME = "review";

/** A state: by its first word a program that has states of its own can tell it. */
const STATE = /^kitbag\.([0-9a-f-]{36})\.(\d{1,16})\.([0-9a-f]{64})$/;

type Fields = Record<string, { type: string; enum?: string[]; items?: { enum: string[] } }>;

/** Whether an answer is one that the form allows; a server that asks itself has it checked by the SDK. */
function fits({ action, content }: Answer, fields: Fields): boolean {
  if (action === "decline" || action === "cancel") return true;
  if (action !== "accept" || typeof content !== "object" || content === null) return false;
  return Object.entries(fields).every(([name, { enum: choices, items }]) => {
    const value = content[name];
    if (value === undefined) return name !== "decision";
    if (items) return Array.isArray(value) && value.every((one) => items.enum.includes(one));
    return typeof value === "string" && (choices?.includes(value) ?? true);
  });
}

/**
 * Returns the answer to a question, or undefined after it was noted as what the call ends with. Throws if
 * an answer came that does not belong to this question.
 */
export async function answerInRounds(
  extra: Extra,
  params: { message: string; requestedSchema: { properties: Fields } },
  changes: readonly Reviewed[] | undefined,
  keyed: () => Key,
): Promise<Answer | undefined> {
  const round = rounds.get(extra);
  if (round === undefined || changes === undefined) {
    throw new Error("elicitReview can ask in the tool commit of registerFileTools only");
  }
  const { capabilities, answers, state, client } = askedBy(extra);
  const able = capabilities?.elicitation as { form?: unknown; url?: unknown } | undefined;
  if (!able || (able.url && !able.form)) {
    throw new Error("Client does not support form elicitation, so nobody can be asked");
  }
  // What the state is bound to.
  const input = Object.entries(round.input).sort(([a], [b]) => (a < b ? -1 : 1));
  const bound = [round.name, input, params, await digestOf(changes), client ?? null];
  const signed = (id: string, until: number) =>
    new TextEncoder().encode(
      JSON.stringify(["kitbag.review", id, until, ...bound]),
    ) as BufferSource;
  const key = await keyed();
  const answer = (answers as Record<string, Answer> | undefined)?.[NAME];
  if (answer !== undefined) {
    const given = typeof state === "string" ? STATE.exec(state) : null;
    const [, id = "", time = "", mac = ""] = given ?? [];
    const until = Number(time);
    const now = Date.now();
    const valid =
      until > now &&
      !used.has(id) &&
      (await crypto.subtle.verify("HMAC", key, bytesOf(mac), signed(id, until)));
    // Looked at again, as another call may have used it during the wait.
    if (!valid || used.has(id)) throw new Error(REFUSED);
    for (const [old, end] of used) if (end <= now) used.delete(old);
    used.set(id, until);
    if (!fits(answer, params.requestedSchema.properties)) throw new Error(UNFIT);
    return answer;
  }
  const [id, until] = [crypto.randomUUID(), Date.now() + PATIENCE_MS];
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed(id, until)));
  round.question = {
    resultType: "input_required",
    inputRequests: {
      ...(round.rooted && ROOTS.inputRequests),
      [NAME]: { method: "elicitation/create", params: { mode: "form", ...params } },
    },
    requestState: `kitbag.${id}.${until}.${hexOf(mac)}`,
  };
  return undefined;
}

const REFUSED =
  "The answer was refused, and nothing was done: its state is not from here, too old, used before, or of another call or other changes than these. Call again without it";

const UNFIT =
  "The user's answer does not fit the question, so nothing was done. Call again without it";

const hexOf = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const bytesOf = (hex: string): BufferSource =>
  Uint8Array.from(hex.match(/../g) ?? [], (two) => Number.parseInt(two, 16));
