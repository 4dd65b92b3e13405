// The address after `#` names the view: `#/files/work/README.md`.

import { signal } from "@preact/signals";

export const VIEWS = [
  { id: "agent", title: "Agent" },
  { id: "files", title: "Files" },
  { id: "review", title: "Review" },
  { id: "sync", title: "Sync" },
  { id: "rules", title: "Rules" },
  { id: "shell", title: "Shell" },
  { id: "speed", title: "Speed" },
  { id: "model", title: "Model" },
  { id: "simulator", title: "Simulator" },
] as const;

export type ViewId = (typeof VIEWS)[number]["id"];

function parsed(): { view: ViewId; rest: string } {
  const [, view = "", rest = ""] = /^#\/([a-z]+)(\/.*)?$/.exec(decodeURI(location.hash)) ?? [];
  return { view: VIEWS.find(({ id }) => id === view)?.id ?? "agent", rest };
}

export const route = signal(parsed());
addEventListener("hashchange", () => {
  route.value = parsed();
});

export const address = (view: ViewId, rest = "") => `#/${view}${encodeURI(rest)}`;

export function go(view: ViewId, rest = "") {
  location.hash = address(view, rest);
}
