// Where everything of a history is drawn: a lane for each caller, grouped by client, a bar for each
// call over simulated time, a mark for each fault. Time runs to the right, on a phone downwards. Long
// waits are shortened, so that short calls can be seen beside them.

import { kindOf, milliseconds, type Report, sentence } from "./report";

/** A box; `along` is the direction of time, whichever that is. */
export interface Box {
  along: number;
  across: number;
  length: number;
  width: number;
}

export interface Drawing {
  length: number;
  width: number;
  lanes: Array<{ box: Box; label: string; short: string }>;
  ticks: Array<{ along: number; label: string }>;
  bars: Array<{ box: Box; kind: string; wrong: boolean; name: string; text: string }>;
  faults: Array<{ along: number; across: number; text: string }>;
}

export interface Room {
  /** What is before the first call: labels of lanes or of times. */
  head: number;
  /** Of a lane. */
  lane: number;
  /** Between two clients. */
  gap: number;
  /** Above the first lane. */
  margin: number;
  /** At least this long, and for each call. */
  least: number;
  perCall: number;
  /** Between two times that are written. */
  tick: number;
}

/** A function from microseconds to a place; gaps without any event are cut. */
function scale(times: number[], length: number, head: number): (time: number) => number {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((time, at) => time - (sorted[at] ?? 0));
  const usual = [...gaps].sort((a, b) => a - b)[Math.floor(gaps.length * 0.6)] ?? 1;
  const places = new Map<number, number>();
  let place = 0;
  for (const [at, time] of sorted.entries()) {
    if (at > 0) place += Math.min(gaps[at - 1] ?? 0, usual * 4) + usual * 0.5;
    places.set(time, place);
  }
  const factor = length / Math.max(place, 1);
  return (time) => head + (places.get(time) ?? 0) * factor;
}

/** The first `shown` calls, and the faults until then. */
export function drawing(report: Report, shown: number, room: Room): Drawing {
  const { calls, faults, wrong } = report;
  const length = Math.max(room.least, calls.length * room.perCall);
  const times = calls.flatMap(({ began, ended }) => [began, ended]);
  const along = scale([...times, ...faults.map(({ at }) => at)], length, room.head);
  const clients = new Map(calls.map(({ lane, client }) => [lane, client]));
  const ids = [...clients.keys()].sort((a, b) => a - b);
  const across = new Map(
    ids.map((id, at) => [id, room.margin + at * room.lane + (clients.get(id) ?? 0) * room.gap]),
  );
  const last = across.get(ids.at(-1) ?? 0) ?? 0;
  const wrongs = new Set([...wrong.join("\n").matchAll(/call (\d+)/g)].map(([, n]) => Number(n)));

  const lanes = ids.map((id) => {
    const caller = `client ${clients.get(id)}, caller ${id}`;
    const final = id === ids.at(-1);
    return {
      box: { along: room.head, across: across.get(id) ?? 0, length, width: room.lane - 4 },
      label: final ? "last look" : caller,
      short: final ? "last" : `${clients.get(id)}.${id}`,
    };
  });
  const ticks: Drawing["ticks"] = [];
  let free = 0;
  for (const { began } of calls) {
    const place = along(began);
    if (place < free) continue;
    free = place + room.tick;
    ticks.push({ along: place, label: milliseconds(began) });
  }
  const bars = calls.slice(0, shown).map((call, number) => ({
    box: {
      along: along(call.began),
      across: (across.get(call.lane) ?? 0) + 3,
      length: Math.max(3, along(call.ended) - along(call.began)),
      width: room.lane - 10,
    },
    kind: kindOf(call),
    wrong: wrongs.has(number),
    name: call.name,
    text: sentence(call, number),
  }));
  const until = Math.max(0, ...calls.slice(0, shown).map(({ began }) => began));
  const marks = faults
    .filter(({ at }) => shown >= calls.length || at <= until)
    .map(({ at, client, what }) => ({
      along: along(at),
      across: (across.get(ids.find((id) => clients.get(id) === client) ?? ids[0] ?? 0) ?? 0) - 3,
      text: `${milliseconds(at)}, client ${client}: ${what}`,
    }));
  return {
    length: room.head + length + 24,
    width: last + room.lane + 12,
    lanes,
    ticks,
    bars,
    faults: marks,
  };
}
