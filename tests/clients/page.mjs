// What the tests run in a page.

import * as kitbag from "/pkg/dist/browser.js";
import { inParts } from "./client.mjs";

/** Starts the service worker; the page is under its control then. */
export async function registered() {
  await navigator.serviceWorker.register("/worker.js");
  await navigator.serviceWorker.ready;
  if (navigator.serviceWorker.controller) return;
  await new Promise((resolve) =>
    navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }),
  );
}

/** A sound of a second, as a file. */
function sound() {
  const view = new DataView(new ArrayBuffer(44 + 16_000));
  const text = (at, letters) => {
    for (let n = 0; n < letters.length; n++) view.setUint8(at + n, letters.charCodeAt(n));
  };
  text(0, "RIFF");
  view.setUint32(4, 36 + 16_000, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8000, true);
  view.setUint32(28, 16_000, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, 16_000, true);
  return new Uint8Array(view.buffer);
}

/** A GIF of one pixel. */
const IMAGE = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

/** What pages do with files of a service worker. */
export async function used({ base }) {
  await registered();
  const files = new kitbag.HttpBackend({ url: base });
  const bytes = sound();
  const stored = await files.uploadFiles([
    ["/a/picture.gif", Uint8Array.from(atob(IMAGE), (letter) => letter.charCodeAt(0))],
    ["/a/sound.wav", bytes],
    ["/a/notes.txt", new TextEncoder().encode("one\nneedle\n")],
  ]);
  const part = await fetch(`${base}/a/sound.wav`, { headers: { range: "bytes=4-7" } });
  const image = new Image();
  image.src = `${base}/a/picture.gif`;
  await image.decode();
  const audio = new Audio(`${base}/a/sound.wav`);
  audio.preload = "metadata";
  await new Promise((resolve, reject) => {
    audio.onloadedmetadata = resolve;
    audio.onerror = () => reject(new Error(`audio: ${audio.error?.message}`));
    audio.load();
  });
  const plain = await fetch(`${base}/a/notes.txt`, { method: "DELETE" });
  const { matches } = await files.grep("needle");
  return {
    stored: stored.map(({ error }) => error),
    part: {
      status: part.status,
      bytes: [...new Uint8Array(await part.arrayBuffer())],
      range: part.headers.get("content-range"),
    },
    image: [image.naturalWidth, image.naturalHeight],
    seconds: audio.duration,
    plain: plain.status,
    matches: matches?.map(({ path, line }) => [path, line]),
    missing: (await fetch(`${base}/nothing.txt`)).status,
    other: (await fetch("/clients/client.mjs")).status,
  };
}

/** A file of three and a half pieces, read whole and in ranges, by what a page has for it. */
export async function large({ base }) {
  await registered();
  const files = new kitbag.HttpBackend({ url: base });
  const size = (7 << 19) + 3;
  const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 7 + (at >> 11)) & 255);
  const [{ error }] = await files.uploadFiles([["/film.bin", bytes]]);
  if (error) throw new Error(error);
  // A browser's time of a change is exact to a millisecond: only then it tells states apart.
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const wrong = await inParts(files);
  const { part } = await files.readRaw("/film.bin", { start: 1, end: 2 });
  const equal = (got, from) =>
    got.every((byte, at) => byte === bytes[from + at]) ? got.length : "other bytes";
  const taken = async (range) => {
    const answer = await fetch(`${base}/film.bin`, range ? { headers: { range } } : {});
    const from = Number(/^bytes (\d+)/.exec(answer.headers.get("content-range") ?? "")?.[1] ?? 0);
    return [answer.status, from, equal(new Uint8Array(await answer.arrayBuffer()), from)];
  };
  return {
    wrong,
    size: part.size,
    hasVersion: part.version !== undefined,
    whole: await taken(),
    middle: await taken("bytes=1000000-3000000"),
    last: await taken("bytes=-5"),
    beyond: (await taken(`bytes=${size}-`))[0],
  };
}
