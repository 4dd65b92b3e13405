// Controls that fold on a phone, where the content needs the room.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "./icons";

const query = matchMedia("(max-width: 719px)");
export const narrow = signal(query.matches);
query.addEventListener("change", () => {
  narrow.value = query.matches;
});

interface Props {
  title: string;
  /** Whether it is open at first. */
  open?: boolean;
  children: ComponentChildren;
}

export function Fold({ title, open = false, children }: Props) {
  if (!narrow.value) return <>{children}</>;
  return (
    <details class="fold" open={open}>
      <summary>
        <Icon name="chevron" size={14} />
        {title}
      </summary>
      <div class="folded">{children}</div>
    </details>
  );
}
