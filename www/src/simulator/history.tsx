// A history as a picture.

import { type Box, drawing, type Room } from "./layout";
import type { Report } from "./report";

const WIDE: Room = {
  head: 140,
  lane: 26,
  gap: 10,
  margin: 24,
  least: 700,
  perCall: 26,
  tick: 90,
};

/** Room for the time beside the last line. */
const LABEL = 66;

/** On a phone time runs downwards: the page scrolls that way anyway. */
function tall(report: Report, width: number): Room {
  const clients = new Set(report.calls.map(({ client }) => client)).size;
  const lanes = new Set(report.calls.map(({ lane }) => lane)).size;
  const [margin, gap] = [78, 6];
  const lane = Math.max(14, Math.floor((width - margin - 16 - (clients + 1) * gap) / lanes));
  return { head: 24, lane, gap, margin, least: 500, perCall: 22, tick: 22 };
}

interface Props {
  report: Report;
  shown: number;
  /** The width that there is, if time runs downwards. */
  width?: number | undefined;
  tell(text: string): void;
}

export function History({ report, shown, width, tell }: Props) {
  const down = width !== undefined;
  const picture = drawing(report, shown, down ? tall(report, width) : WIDE);
  const rect = ({ along, across, length, width: own }: Box) =>
    down
      ? { x: across, y: along, width: own, height: length }
      : { x: along, y: across, width: length, height: own };
  const lastTick = picture.ticks.at(-1)?.along ?? 0;
  const size = down
    ? { width: picture.width, height: picture.length }
    : { width: Math.max(picture.length, lastTick + LABEL), height: picture.width };
  const listen = (text: string) => ({
    onPointerEnter: () => tell(text),
    onClick: () => tell(text),
  });
  return (
    <svg
      {...size}
      class="history"
      role="img"
      aria-label={`${report.calls.length} calls and ${report.faults.length} faults over simulated time`}
    >
      {picture.lanes.map(({ box, label, short }) => {
        const place = rect(box);
        return (
          <g key={label}>
            <rect class="lane" {...place} />
            {down ? (
              <text class="label" x={place.x} y={14}>
                {short}
              </text>
            ) : (
              <text class="label" x={0} y={place.y + 15}>
                {label}
              </text>
            )}
          </g>
        );
      })}
      {picture.ticks.map(({ along, label }) =>
        down ? (
          <text key={label} x={0} y={along + 8}>
            {label}
          </text>
        ) : (
          <g key={label}>
            <line class="tick" x1={along} x2={along} y1={16} y2={size.height} />
            <text x={along + 3} y={12}>
              {label}
            </text>
          </g>
        ),
      )}
      {picture.bars.map(({ box, kind, wrong, name, text }, at) => {
        const place = rect(box);
        const fits = !down && place.width > name.length * 6 + 6;
        return (
          <g key={`${at}-${name}`} {...listen(text)}>
            <rect class={`bar ${kind} ${wrong ? "wrong" : ""}`} {...place}>
              <title>{text}</title>
            </rect>
            {fits && (
              <text class={`name on-${kind}`} x={place.x + 4} y={place.y + 12}>
                {name}
              </text>
            )}
          </g>
        );
      })}
      {picture.faults.map(({ along, across, text }, at) => {
        const [x, y] = down ? [across, along] : [along, across];
        const points = down
          ? `${x - 5},${y - 5} ${x - 5},${y + 5} ${x + 5},${y}`
          : `${x - 5},${y - 5} ${x + 5},${y - 5} ${x},${y + 5}`;
        return (
          <polygon key={`${at}-${text}`} class="fault" points={points} {...listen(text)}>
            <title>{text}</title>
          </polygon>
        );
      })}
    </svg>
  );
}
