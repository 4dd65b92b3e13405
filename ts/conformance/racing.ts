// Concurrent calls: one creator succeeds, no edit is lost, and no partial change is visible.

import { type Case, holds, same, writable } from "./subject.js";

const creates = (promised: Parameters<typeof writable>[0]) =>
  writable(promised) && promised.create !== "never";
const updates = (promised: Parameters<typeof writable>[0]) =>
  writable(promised) && promised.update !== "never";

export const racing: Case[] = [
  {
    name: "one of many creators wins",
    needs: creates,
    async run(it) {
      const texts = Array.from({ length: 8 }, (_, n) => `writer ${n}`);
      const answers = await Promise.all(texts.map((text) => it.backend.write("/race.txt", text)));
      const winners = texts.filter((_, at) => answers[at]?.error === undefined);
      same("winners", winners.length, 1);
      same("content", await it.text("/race.txt"), winners[0]);
    },
  },
  {
    name: "no edit is lost",
    needs: updates,
    async run(it) {
      await it.write("/count.txt", "end");
      const numbers = Array.from({ length: 12 }, (_, n) => n);
      const answers = await Promise.all(
        numbers.map((n) => it.backend.edit("/count.txt", "end", `<${n}>end`)),
      );
      const text = await it.text("/count.txt");
      for (const [n, answer] of answers.entries()) {
        const there = text.includes(`<${n}>`);
        if (answer.error === undefined) holds(`edit ${n} is there`, there, text);
        else {
          same(`edit ${n} may only conflict`, answer.code ?? "conflict", "conflict");
          holds(`edit ${n} is not there`, !there, text);
        }
      }
      holds("some edit landed", text !== "end");
    },
  },
  {
    name: "writes of different files do not disturb each other",
    needs: writable,
    async run(it) {
      const paths = Array.from({ length: 40 }, (_, n) => `/p/${n % 5}/${n}.txt`);
      await Promise.all(paths.map((path) => it.write(path, `in ${path}`)));
      for (const path of paths) same(path, await it.text(path), `in ${path}`);
    },
  },
  {
    name: "a reader sees the whole old text or the whole new one",
    needs: (promised) => updates(promised) && promised.batches,
    async run(it) {
      const [a, b] = ["a".repeat(50_000), "b".repeat(60_000)];
      await it.write("/swap.txt", a);
      const change = it.backend.uploadFiles?.([["/swap.txt", new TextEncoder().encode(b)]]);
      const reads = await Promise.all([1, 2, 3, 4].map(() => it.text("/swap.txt")));
      await change;
      for (const text of reads) holds("whole", text === a || text === b, text.length);
      holds("the new one at last", (await it.text("/swap.txt")) === b);
    },
  },
];
