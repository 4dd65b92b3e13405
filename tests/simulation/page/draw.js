// Draws a history: a row for each caller, grouped by client, a bar for each call over simulated time,
// a triangle for each fault. Long waits are shortened, so that short calls can be seen beside them.

const ROW = 26;
const TOP = 24;
const LEFT = 132;
const LOOKS = new Set(["read", "readRaw", "download", "ls", "glob", "grep", "trespass"]);

function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A function from microseconds to a place; gaps without any event are cut. */
function scale(times, width) {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((time, at) => time - sorted[at]);
  const usual = [...gaps].sort((a, b) => a - b)[Math.floor(gaps.length * 0.6)] ?? 1;
  const places = new Map();
  let place = 0;
  for (const [at, time] of sorted.entries()) {
    if (at > 0) place += Math.min(gaps[at - 1], usual * 4) + usual * 0.5;
    places.set(time, place);
  }
  const factor = width / Math.max(place, 1);
  return (time) => LEFT + places.get(time) * factor;
}

/** The kind of a call, which decides its colour. */
export function kindOf({ end, name, outcome }) {
  if (end !== "answered") return end;
  const codes =
    /^(already_exists|conflict|not_found|no_match|invalid_\w+|permission_denied|quota_exceeded)$/;
  if (codes.test(outcome)) return "refused";
  return LOOKS.has(name) ? "look" : "change";
}

const milliseconds = (micros) => `${(micros / 1000).toFixed(2)} ms`;

/** Draws the first `shown` calls; `tell` receives the text of what is pointed at. */
export function draw(report, shown, tell) {
  const calls = report.calls.slice(0, shown);
  const until = Math.max(0, ...calls.map((call) => call.began));
  const whole = shown >= report.calls.length;
  const faults = report.faults.filter((fault) => whole || fault.at <= until);
  const wrong = new Set(
    [...report.wrong.join("\n").matchAll(/call (\d+)/g)].map((match) => Number(match[1])),
  );
  const lanes = [...new Set(report.calls.map((call) => call.lane))].sort((a, b) => a - b);
  const clients = new Map(report.calls.map((call) => [call.lane, call.client]));
  const width = Math.max(900, report.calls.length * 26);
  const times = report.calls.flatMap((call) => [call.began, call.ended]);
  const place = scale([...times, ...report.faults.map((fault) => fault.at)], width);
  const rows = new Map(lanes.map((lane, at) => [lane, TOP + at * ROW + clients.get(lane) * 10]));
  const height = Math.max(...rows.values()) + ROW + 12;
  const svg = element("svg", { width: width + LEFT + 24, height, role: "img" });

  const ticks = Math.max(1, Math.floor(report.calls.length / 8));
  let free = 0;
  for (const [at, call] of report.calls.entries()) {
    const x = place(call.began);
    if (at % ticks !== 0 || x < free) continue;
    free = x + 90;
    svg.append(element("line", { class: "tick", x1: x, x2: x, y1: 16, y2: height }));
    svg.append(element("text", { x: x + 3, y: 12 }, milliseconds(call.began)));
  }
  for (const lane of lanes) {
    const y = rows.get(lane);
    const band = { class: "band", x: LEFT - 4, y, width: width + 16, height: ROW - 4 };
    svg.prepend(element("rect", band));
    const caller = `client ${clients.get(lane)}, caller ${lane}`;
    const label = lane === lanes.at(-1) ? "last look" : caller;
    svg.append(element("text", { class: "label", x: 0, y: y + 15 }, label));
  }
  for (const [number, call] of calls.entries()) {
    const [x, end] = [place(call.began), place(call.ended)];
    const kind = kindOf(call);
    const box = { x, y: rows.get(call.lane) + 3, width: Math.max(3, end - x), height: ROW - 10 };
    const mark = wrong.has(number) ? " wrong" : "";
    const bar = element("rect", { class: `bar ${kind}${mark}`, "data-call": number, ...box });
    const span = `${milliseconds(call.began)} – ${milliseconds(call.ended)}`;
    const text = `call ${number}, client ${call.client}, ${span}: ${call.name} ${call.about} → ${call.outcome}`;
    bar.append(element("title", {}, text));
    bar.addEventListener("pointerenter", () => tell(text));
    svg.append(bar);
    if (end - x > call.name.length * 6 + 6) {
      svg.append(element("text", { class: `name on-${kind}`, x: x + 4, y: box.y + 12 }, call.name));
    }
  }
  for (const fault of faults) {
    const lane = lanes.find((lane) => clients.get(lane) === fault.client) ?? lanes[0];
    const [x, y] = [place(fault.at), rows.get(lane) - 3];
    const points = `${x - 5},${y - 5} ${x + 5},${y - 5} ${x},${y + 5}`;
    const mark = element("polygon", { class: "fault", points });
    const text = `${milliseconds(fault.at)}, client ${fault.client}: ${fault.what}`;
    mark.append(element("title", {}, text));
    mark.addEventListener("pointerenter", () => tell(text));
    svg.append(mark);
  }
  return svg;
}
