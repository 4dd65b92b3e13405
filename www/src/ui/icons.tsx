// Icons, as strokes of one width in the colour of the text.

const PATHS: Record<string, string> = {
  agent: "M5 7h10v7H5z M10 7V4 M10 4h.01 M8 10v1 M12 10v1 M3 10v2 M17 10v2",
  files: "M3 5.5h5l1.5 2H17v8.5H3z",
  review: "M3.5 5h7 M3.5 9h4.5 M3.5 13h4 M9.5 13.5l2.5 2.5 5-6.5",
  sync: "M4 8.5a6 6 0 0 1 10.8-2 M15 3.5v3.2h-3.2 M16 11.5a6 6 0 0 1-10.8 2 M5 16.5v-3.2h3.2",
  rules: "M10 3l6 2.2v4.3c0 3.6-2.5 6.2-6 7.5-3.5-1.3-6-3.9-6-7.5V5.2z M7.5 10l1.8 1.8 3.4-3.6",
  shell: "M3 4.5h14v11H3z M6 8l2.2 2L6 12 M10 12.5h4",
  speed: "M3.5 14a6.5 6.5 0 1 1 13 0 M10 14l3-4.5",
  model: "M10 3v3 M10 14v3 M3 10h3 M14 10h3 M10 7.2l1 1.8 1.8 1-1.8 1-1 1.8-1-1.8-1.8-1 1.8-1z",
  simulator: "M3.5 5h6 M12 5h4.5 M3.5 10h3 M9 10h7.5 M3.5 15h8.5 M14.5 15h2",
  play: "M7 5l8 5-8 5z",
  pause: "M7.5 5v10 M12.5 5v10",
  step: "M6 5l7 5-7 5z M14.5 5v10",
  replay: "M4.5 10a5.5 5.5 0 1 0 1.8-4 M4.5 3.5v3.2h3.2",
  sun: "M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6z M10 2.5v1.6 M10 15.9v1.6 M2.5 10h1.6 M15.9 10h1.6 M4.7 4.7l1.1 1.1 M14.2 14.2l1.1 1.1 M15.3 4.7l-1.1 1.1 M5.8 14.2l-1.1 1.1",
  moon: "M15.5 11.6A6 6 0 0 1 8.4 4.5a6 6 0 1 0 7.1 7.1z",
  folder: "M3 5.5h5l1.5 2H17v8.5H3z",
  file: "M5.5 3h6L15 6.5V17H5.5z M11.5 3v3.5H15",
  chevron: "M8 6l4 4-4 4",
  copy: "M7 7h9v9H7z M13 7V4H4v9h3",
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  cross: "M5.5 5.5l9 9 M14.5 5.5l-9 9",
  lock: "M5.5 9h9v7h-9z M7.5 9V7a2.5 2.5 0 0 1 5 0v2",
  upload: "M10 13V4 M6.5 7.5L10 4l3.5 3.5 M4 13v3h12v-3",
  download: "M10 4v9 M6.5 9.5L10 13l3.5-3.5 M4 13v3h12v-3",
  plus: "M10 4.5v11 M4.5 10h11",
  tabs: "M3 6h11v10H3z M6 6V3.5h11v10h-3",
  trash: "M4.5 6h11 M8 6V4h4v2 M6 6l.7 10h6.6L14 6",
  hand: "M10 3v7 M10 13.5v.5 M10 2a8 8 0 1 0 0 16 8 8 0 0 0 0-16z",
};

export function Icon({ name, size = 18 }: { name: string; size?: number }) {
  return (
    <svg
      class="icon"
      style={{ "--icon": size }}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}
