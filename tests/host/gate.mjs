// Storages whose changes wait for the test, and the changes that the tests of cancelled calls make.

export const bytes = (text) => new TextEncoder().encode(text);

/** Changes that wait for the test: `begun` counts them, `end(n)` makes the nth or rejects it. */
export class Gate {
  open = false;
  waiting = [];
  #watchers = [];

  pass(make) {
    if (this.open) return make();
    return new Promise((resolve, reject) => {
      this.waiting.push({
        make: () => resolve(make()),
        fail: (error) => reject(error),
      });
      for (const watcher of this.#watchers.splice(0)) watcher();
    });
  }

  /** Resolves when so many changes have begun. */
  async begun(count) {
    while (this.waiting.length < count) {
      await new Promise((resolve) => this.#watchers.push(resolve));
    }
  }
}

export async function textOf(backend, path) {
  return (await backend.read(path)).content;
}

export const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Changes that can be cancelled, and ones that come after; each with the text it leaves. */
export const CHANGES = {
  write: [(b, text, o) => b.write("/d/a.txt", text, o), "whole"],
  edit: [(b, text, o) => b.edit("/d/a.txt", "old", text, false, o), "edit"],
  upload: [(b, text, o) => b.uploadFiles([["/d/a.txt", bytes(text)]], o), "whole"],
  "upload of several": [
    (b, text, o) =>
      b.uploadFiles(
        [
          ["/d/z.txt", bytes("z")],
          ["/d/a.txt", bytes(text)],
        ],
        o,
      ),
    "whole",
  ],
  delete: [(b, _, o) => b.delete("/d/a.txt", o), "gone"],
  "delete of the directory": [(b, _, o) => b.delete("/d", o), "gone"],
};

export const codeOf = (answer) => [answer].flat()[0].code ?? [answer].flat()[0].error ?? null;
