// The keys that begin a search, in every view: Ctrl or Cmd with Shift and F, and `/` where nobody types.

import { signal } from "@preact/signals";
import { narrow } from "../ui/fold";
import { go, route } from "../ui/route";

/** Counts how often the field was called for. */
export const called = signal(0);

const typing = (element: EventTarget | null) =>
  element instanceof HTMLElement &&
  (element.isContentEditable || element.matches("input, textarea, select"));

document.addEventListener("keydown", (event) => {
  const chord = event.shiftKey && (event.ctrlKey || event.metaKey) && /^f$/i.test(event.key);
  const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!chord && !(slash && !typing(event.target))) return;
  event.preventDefault();
  // On a phone an open file takes the place of the tree.
  if (route.value.view !== "files" || narrow.value) go("files");
  called.value += 1;
});
