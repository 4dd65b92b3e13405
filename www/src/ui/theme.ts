// Light or dark: as the system has it, until somebody chooses.

import { signal } from "@preact/signals";

const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => document.documentElement.dataset.theme;

export const theme = signal(chosen() ?? (dark.matches ? "dark" : "light"));
dark.addEventListener("change", () => {
  if (!chosen()) theme.value = dark.matches ? "dark" : "light";
});

export function switchTheme() {
  theme.value = theme.value === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme.value;
  try {
    localStorage.setItem("theme", theme.value);
  } catch {
    // Chosen for this page only.
  }
}
