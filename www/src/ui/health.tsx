// What the browser says about its storage, and which other tabs are open, live.

import { signal } from "@preact/signals";
import { changed } from "../tree/changes";
import { files, memories } from "../tree/mounts";
import { tab } from "../tree/session";
import { bytes, counted } from "./format";
import { ready } from "./ready";

export const health = signal<{ usage?: number; quota?: number; persisted?: boolean }>({});
/** Other open tabs, by when they were last heard. */
export const others = signal<Record<string, number>>({});
/** The last changes of other tabs. */
export const heard = signal<Array<{ at: number; paths: string[] }>>([]);

const channel = new BroadcastChannel("kitbag-playground");
channel.onmessage = ({
  data,
}: MessageEvent<{ tab: string; leaving?: boolean; reply?: boolean }>) => {
  const { [data.tab]: _, ...rest } = others.value;
  others.value = data.leaving ? rest : { ...rest, [data.tab]: Date.now() };
  if (!data.leaving && !data.reply) channel.postMessage({ tab, reply: true });
};
channel.postMessage({ tab });
addEventListener("pagehide", () => channel.postMessage({ tab, leaving: true }));

async function look() {
  const answer = await memories.health();
  if (!answer.error) health.value = answer;
}

export async function persist() {
  await memories.persist();
  await look();
}

function listen({ paths }: { paths: string[] }, prefix: string) {
  const entry = { at: Date.now(), paths: paths.map((path) => prefix + path) };
  heard.value = [entry, ...heard.value].slice(0, 8);
}

let started = false;
ready.subscribe((now) => {
  if (!now || started) return;
  started = true;
  memories.watch((change) => listen(change, "/memories"));
  files?.watch((change) => listen(change, "/files"));
  changed.subscribe(() => void look());
  setInterval(() => void look(), 5_000);
});

export function HealthChip() {
  const { usage, quota, persisted } = health.value;
  const tabs = Object.keys(others.value).length;
  if (usage === undefined || quota === undefined) return null;
  const about = `${bytes(usage)} of ${bytes(quota)} used, ${persisted ? "kept by the browser" : "may be cleared by the browser"}`;
  return (
    <span class="health" title={about}>
      <i class={persisted ? "dot good" : "dot"} />
      {bytes(usage)} stored
      {tabs > 0 && <span> · {counted(tabs, "other tab")}</span>}
    </span>
  );
}
