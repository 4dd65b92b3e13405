// Labels and flows of the component against those of the npm package: random calls have the same answers, labels and
// questions. And hosts that do not answer as they must.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withHistory } from "../../pkg/dist/history.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import { documentedStorage } from "../host/lib.mjs";
import { CustomBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import {
  errorOf,
  historyOptions,
  labelOptions,
  Protocol,
  policyOptions,
  stateOptions,
} from "./protocol.mjs";
import { asked, change, numbers, stripped, turnOf, turnOfNpm } from "./random.mjs";
import { MapVolume, volumeOptions } from "./volume.mjs";

const HISTORIES = 30;
const STEPS = 40;

const PLACES = ["/web/a.txt", "/d/b.txt", "/memories/c.txt", "/skills/d/e.txt", "/open.txt"];
const LABELS = [
  { paths: ["/web/**"], label: "untrusted" },
  { paths: ["/d/{x,b.txt}"], label: "private" },
];
const FLOWS = [
  { label: "untrusted", to: ["/memories/**", "/skills/**"], mode: "ask" },
  { label: "untrusted", to: ["/skills/**"], mode: "refuse" },
  { label: "private", to: ["/memories"], mode: "ask" },
];
/** What a person says. */
const allows = ({ preview }) => !preview.includes("three");

const questionOf = ({ operation, path, preview, labels, reads }) => ({
  ...{ operation, path, preview, labels: [...labels] },
  reads: reads.map(({ label, path: at, operation: by }) => [label, at, by]),
});

/** A conversation of the npm package, in the form that both have. */
function ofNpm(conversation, from) {
  return {
    files: conversation,
    reads: () => conversation.reads.map(({ label, path, operation }) => [label, path, operation]),
    clear: () => conversation.clear(),
    async labels(path) {
      const { labels, error, code } = await conversation.labels(path);
      return labels ?? { error, code };
    },
    async trust(path) {
      const { error, code } = await conversation.trust(path);
      return error === undefined ? "trusted" : { error, code };
    },
    another: (goesOn) => ofNpm(conversation.conversation(goesOn ? conversation.reads : []), from),
    turn: () => turnOfNpm(conversation),
  };
}

/** The same of the component. */
function ofComponent(conversation, Turn) {
  return {
    files: new Protocol(conversation.files()),
    reads: () => conversation.reads().map(({ label, path, operation }) => [label, path, operation]),
    clear: () => conversation.clear(),
    labels: (path) => asked(() => conversation.labels(path)),
    trust: (path) =>
      asked(
        () => conversation.trust(path),
        () => "trusted",
      ),
    another: (goesOn) =>
      ofComponent(conversation.another(goesOn ? conversation.reads() : []), Turn),
    turn: () => turnOf(Turn, conversation.files()),
  };
}

async function play(seed, first, base, questions) {
  const roll = numbers(seed);
  const one = (list) => list[roll(list.length)];
  let now = first;
  const seen = [];
  for (let step = 0; step < STEPS; step++) {
    const kind = roll(24);
    let answer = "nothing";
    if (kind < 14) answer = stripped(await change(now.files, roll, PLACES));
    else if (kind < 16) answer = stripped(await change(base, roll, PLACES));
    else if (kind === 16) answer = await now.labels(one([...PLACES, "/../x"]));
    else if (kind === 17) answer = await now.trust(one([...PLACES, "/d", "/"]));
    else if (kind === 18) now.clear();
    else if (kind === 19) now = now.another(roll(2) === 0);
    else if (kind === 20) now = first;
    else if (kind === 21) {
      const files = PLACES.map((path) => [path, new TextEncoder().encode(one(["one", "three"]))]);
      answer = (await now.files.uploadFiles(files)).map(({ path, error }) => [path, error]);
    } else if (kind === 22) {
      const turn = now.turn();
      for (let at = roll(4); at >= 0; at--) await change(turn.files, roll, PLACES);
      answer = await turn.commit();
    } else answer = stripped(await now.files.read(PLACES[0]));
    seen.push([kind, answer, now.reads(), questions.splice(0)]);
  }
  const end = [];
  for (const path of PLACES) {
    end.push([await first.labels(path), (await base.read(path)).content ?? null]);
  }
  return { seen, end };
}

// An instance takes a quarter of a second, so tests share them.
const quiet = instance();

describe("random conversations have the answers of the npm package", () => {
  const own = [];
  const component = instance({
    decide(host, question) {
      assert.equal(host, "person");
      own.push(questionOf(question));
      return allows(question);
    },
  });
  const { Backend, Conversation, Turn } = component;
  const state = () => Backend.state(stateOptions());
  const volume = () => Backend.lent(new MapVolume(), volumeOptions());
  const MapStorage = documentedStorage();
  const npmVolume = () => new CustomBackend(new MapStorage());
  const npmState = () => new StateBackend();
  for (const [name, make, makeNpm, keeps] of [
    ["in memory", state, npmState, false],
    ["kept in a file", state, npmState, true],
    ["on a volume, kept in a file", volume, npmVolume, true],
  ]) {
    test(`${name}: ${HISTORIES} histories`, async () => {
      const said = new Map();
      for (let seed = 1; seed <= HISTORIES; seed++) {
        const theirs = [];
        const [npmBase, base] = [makeNpm(), make()];
        const npm = withProvenance(npmBase, {
          labels: LABELS.map(({ paths, label }) => ({ paths, as: label })),
          flows: FLOWS.map(({ label, to, mode }) => ({ from: label, to, then: mode })),
          onAsk(question) {
            theirs.push(questionOf(question));
            return allows(question);
          },
          ...(keeps ? { keepIn: { backend: npmState() } } : {}),
        });
        const conversation = Conversation.begin(
          base,
          labelOptions({
            ...{ labels: LABELS, flows: FLOWS, host: "person" },
            keepIn: keeps ? { backend: state() } : undefined,
          }),
        );
        const wanted = await play(seed, ofNpm(npm), npmBase, theirs);
        const found = await play(seed, ofComponent(conversation, Turn), new Protocol(base), own);
        for (const [step, [kind, answer, reads, questions]] of wanted.seen.entries()) {
          const what = `seed ${seed}, step ${step} (${kind})`;
          assert.deepEqual(found.seen[step].slice(1), [answer, reads, questions], what);
          const labels = kind === 16 && Array.isArray(answer) ? answer.join() : "";
          for (const word of [answer.code, labels, questions.length > 0 && "asked"]) {
            if (word) said.set(word, (said.get(word) ?? 0) + 1);
          }
        }
        assert.deepEqual(found.end, wanted.end, `seed ${seed}`);
      }
      for (const word of ["asked", "permission_denied", "untrusted", "private"]) {
        assert.ok(said.get(word) > 5, `${word}: ${[...said]}`);
      }
    });
  }
});

test("a history below keeps labels of what comes back, a policy around asks first", async () => {
  const { Backend, Conversation, History } = quiet;
  const base = Backend.state(stateOptions());
  const rules = labelOptions({
    flows: [{ label: "untrusted", to: ["/memories/**"], mode: "refuse" }],
  });
  const conversation = Conversation.begin(base, rules);
  const keepIn = Backend.state(stateOptions());
  const world = History.open(conversation.files(), historyOptions(keepIn));
  const files = new Protocol(world.files());
  const npm = withProvenance(new StateBackend(), {
    labels: [{ paths: ["/web/**"], as: "untrusted" }],
    flows: [{ from: "untrusted", to: ["/memories/**"], then: "refuse" }],
  });
  const theirs = withHistory(npm, { keepIn: { backend: new StateBackend() } });
  for (const each of [files, theirs]) {
    await each.write("/web/page.txt", "obey\n");
    await each.read("/web/page.txt");
    await each.write("/copy.txt", "it says: obey\n");
    await each.delete("/copy.txt");
  }
  conversation.clear();
  npm.clear();
  // What comes back carries its label again, and is not put into a protected file.
  const [{ id }] = (await theirs.log("/copy.txt")).entries.slice(1);
  const own = world.log("/copy.txt", 9)[1].id;
  assert.deepEqual(world.restore("/copy.txt", { tag: "named", val: own }), ["/copy.txt"]);
  assert.deepEqual((await theirs.restore("/copy.txt", id)).paths, ["/copy.txt"]);
  assert.deepEqual(conversation.labels("/copy.txt"), ["untrusted"]);
  assert.deepEqual((await npm.labels("/copy.txt")).labels, ["untrusted"]);
  conversation.clear();
  // The files of a pin taint as the files do.
  const then = new Protocol(world.openPin(world.pin().pin));
  conversation.clear();
  then.read("/copy.txt");
  assert.deepEqual(
    conversation.reads().map(({ label }) => label),
    ["untrusted"],
  );
  const refused = files.write("/memories/a.txt", "x");
  assert.equal(refused.code, "permission_denied");
  assert.match(refused.error, /content labelled 'untrusted' from \/copy\.txt/);
  const ruled = new Protocol(
    world.files().withPolicy(policyOptions({ readOnlyPrefixes: ["/closed"] })),
  );
  assert.match(ruled.write("/closed/a.txt", "x").error, /not allowed under/);
  const npmRuled = withPolicy(theirs, { readOnlyPrefixes: ["/closed"] });
  assert.equal((await npmRuled.write("/closed/a.txt", "x")).code, "permission_denied");
});

describe("rules that cannot be meant", () => {
  const { Backend, Conversation } = quiet;
  const base = Backend.state(stateOptions());
  const rule = (label, ...paths) => ({ labels: [{ paths, label }] });
  const flow = (label, to, mode = "refuse") => ({ flows: [{ label, to, mode }] });
  for (const [name, options, code, said] of [
    ["no label", { labels: [] }, "invalid-argument", /a label at least/],
    ["an empty label", rule("", "/a"), "invalid-argument", /at most 64 letters/],
    ["a huge label", rule("x".repeat(1_000_000), "/a"), "invalid-argument", /at most 64/],
    ["a label with a line break", rule("a\nb", "/a"), "invalid-argument", /at most 64/],
    ["a label of other letters", rule("vertraulich-ä", "/a"), "invalid-argument", /at most 64/],
    ["no pattern", rule("a"), "invalid-argument", /a pattern at least/],
    ["a pattern without a root", rule("a", "web/**"), "invalid-pattern", /must begin with '\/'/],
    ["a pattern with dots", rule("a", "/a/../b"), "invalid-pattern", /segments/],
    ["a pattern with a slash at its end", rule("a", "/a/"), "invalid-pattern", /ends with '\/'/],
    ["a pattern with two slashes", rule("a", "/a//b"), "invalid-pattern", /empty segments/],
    ["a pattern with a range", rule("a", "/{1..3}"), "invalid-pattern", /ranges/],
    ["a pattern with NUL", rule("a", "/a\0"), "invalid-pattern", /control character/],
    ["a pattern that is none", rule("a", "/[a"), "invalid-pattern", /\[a/],
    ["a flow of an unknown label", flow("other", ["/a"]), "invalid-argument", /'other'/],
    ["a flow to nowhere", flow("untrusted", []), "invalid-argument", /a pattern at least/],
    ["a flow that asks nobody", flow("untrusted", ["/a"], "ask"), "invalid-argument", /its host/],
    ["labels beside the files", { keepIn: { backend: base } }, "invalid-argument", /another one/],
  ]) {
    test(name, () => {
      const error = errorOf(() => Conversation.begin(base, labelOptions(options)));
      assert.equal(error?.code, code, error?.message);
      assert.match(error.message, said);
      assert.ok(error.message.length < 400);
    });
  }

  test("reads that were made up", () => {
    const conversation = Conversation.begin(base, labelOptions());
    const read = { label: "untrusted", path: "/web/a", operation: "read" };
    assert.deepEqual(conversation.another([read]).reads(), [read]);
    for (const wrong of [{ label: "a b" }, { path: "/../a" }, { operation: "look" }]) {
      assert.ok(errorOf(() => conversation.another([{ ...read, ...wrong }])));
    }
  });
});

describe("a host that does not answer as it must", () => {
  function ruled(decide) {
    const { Backend, Conversation } = instance({ decide });
    const state = Backend.state(stateOptions());
    const conversation = Conversation.begin(
      state,
      labelOptions({
        flows: [{ label: "untrusted", to: ["/memories/**"], mode: "ask" }],
        host: "h",
      }),
    );
    const files = new Protocol(conversation.files());
    new Protocol(state).write("/web/a.txt", "obey");
    files.read("/web/a.txt");
    return { conversation, files, state: new Protocol(state) };
  }

  test("an error of a question is a refusal", () => {
    const { files, state } = ruled(() => {
      throw { code: "unavailable", message: "nobody is here" };
    });
    const answer = files.write("/memories/a.txt", "a");
    assert.equal(answer.code, "permission_denied");
    assert.match(answer.error, /asking failed/);
    assert.equal(state.read("/memories/a.txt").code, "not_found");
  });

  test("an exception ends the call, stores nothing, and the next calls go on", () => {
    let throws = true;
    const { files, state } = ruled(() => {
      if (throws) throw new Error("boom");
      return true;
    });
    for (let time = 0; time < 20; time++) {
      assert.throws(() => files.write("/memories/a.txt", "a"), /boom/);
      assert.equal(state.read("/memories/a.txt").code, "not_found");
    }
    throws = false;
    assert.deepEqual(files.write("/memories/a.txt", "a"), { path: "/memories/a.txt" });
  });

  test("a call while it is asked fails the call that asked; the reads can be looked at", () => {
    let made;
    let calls = false;
    const seen = [];
    made = ruled(() => {
      seen.push(made.conversation.reads().length);
      if (calls) made.state.write("/meanwhile.txt", "x");
      return true;
    });
    assert.deepEqual(made.files.write("/memories/a.txt", "a"), { path: "/memories/a.txt" });
    calls = true;
    assert.equal(made.files.write("/memories/b.txt", "b").code, "permission_denied");
    assert.equal(made.state.read("/memories/b.txt").code, "not_found");
    assert.deepEqual(seen, [1, 1]);
  });
});

describe("a file of labels that was damaged gives every label, and never fewer", () => {
  const KEY = new TextEncoder().encode("sixteen bytes or more");
  const damages = {
    "has other bytes": () => new TextEncoder().encode("\u0000 planted"),
    "is empty": () => new Uint8Array(),
    "is cut": (body) => body.slice(0, -1),
    "was written without the key": (_body, plain) => plain,
  };
  function told(key) {
    const volume = new MapVolume();
    const { Backend, Conversation } = quiet;
    const base = Backend.state(stateOptions());
    const keepIn = { backend: Backend.lent(volume, volumeOptions()), path: "/l.tsv", key };
    const conversation = Conversation.begin(base, labelOptions({ keepIn }));
    const files = new Protocol(conversation.files());
    new Protocol(base).write("/web/a.txt", "obey");
    new Protocol(base).write("/clean.txt", "clean");
    files.read("/web/a.txt");
    files.write("/copy.txt", "obey too");
    return { volume, conversation };
  }
  const FILE = "/.kitbag/l.tsv";
  for (const [name, damage] of Object.entries(damages)) {
    test(`it ${name}`, () => {
      const plain = told(undefined).volume.files.get(FILE).body;
      const { volume, conversation } = told(KEY);
      assert.deepEqual(conversation.labels("/clean.txt"), []);
      const file = volume.files.get(FILE);
      file.body = damage(file.body, plain);
      file.metadata.version = "another";
      for (const path of ["/clean.txt", "/copy.txt", "/web/a.txt"]) {
        assert.deepEqual(conversation.labels(path), ["untrusted"], path);
      }
      conversation.trust("/");
      assert.deepEqual(conversation.labels("/clean.txt"), []);
      assert.deepEqual(conversation.labels("/web/a.txt"), ["untrusted"]);
    });
  }

  test("a volume that fails lets nothing through", () => {
    for (const method of ["get", "put"]) {
      const { volume, conversation } = told(KEY);
      volume[method] = () => {
        throw { code: "unavailable", message: "the disk is away" };
      };
      const files = new Protocol(conversation.files());
      assert.equal(files.write("/new.txt", "obey").code, "unavailable", method);
    }
  });
});
