// Calls that wait for one another inside wasm, each for somebody else: what the host is asked
// must be asked in the asynchronous context of whoever made the call.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { InMemoryStore } from "@langchain/langgraph";
import { CompositeBackend, CustomBackend, createFileTools, StoreBackend, withPolicy } from "kitbag";

const who = new AsyncLocalStorage();
const TENANTS = ["a", "b"];
const EDITS = 40;

/** Every tenant's files, in a storage that knows only by the context whose are meant. */
function tenantStorage() {
  const files = new Map();
  const own = () => {
    const tenant = who.getStore();
    if (!files.has(tenant)) files.set(tenant, new Map());
    return files.get(tenant);
  };
  const wait = () => pause(Math.random() < 0.3 ? 1 : 0);
  const storage = {
    async get(path) {
      const kept = own().get(path);
      await wait();
      return kept ?? null;
    },
    async put(path, file) {
      own().set(path, { content: file.content });
      await wait();
    },
    async delete(path) {
      own().delete(path);
      await wait();
    },
    list(prefix) {
      return [...own().keys()].filter((path) => path.startsWith(prefix));
    },
  };
  return { storage, files };
}

/** Each tenant makes the same file and adds lines to it, all calls of all tenants at once. */
async function race(change, read) {
  const lines = TENANTS.map((tenant) =>
    Array.from({ length: EDITS }, (_, at) => `${tenant} ${at}`),
  );
  await Promise.all(
    TENANTS.map((tenant) => who.run(tenant, () => change.write("/f", `${tenant} begins\nEND\n`))),
  );
  // Turn by turn, so that a tenant's call always waits behind the other's.
  await Promise.all(
    lines[0].flatMap((_, at) =>
      TENANTS.map((tenant, which) =>
        who.run(tenant, () => change.edit("/f", "END\n", `${lines[which][at]}\nEND\n`)),
      ),
    ),
  );
  for (const [which, tenant] of TENANTS.entries()) {
    const text = await read(tenant);
    const [first, ...rest] = text.trimEnd().split("\n");
    assert.equal(first, `${tenant} begins`);
    assert.deepEqual(rest.slice(0, -1).sort(), lines[which].sort(), `files of ${tenant}`);
  }
}

const sound = async (answer) => {
  const { error } = await answer;
  assert.equal(error, undefined);
};

const through = (backend) => ({
  write: (...args) => sound(backend.write(...args)),
  edit: (...args) => sound(backend.edit(...args)),
});

const decode = (bytes) => new TextDecoder().decode(bytes);

const WRAPPED = {
  "on its own": (backend) => backend,
  "in a composite": (backend) =>
    new CompositeBackend(backend, { "/other/": new CustomBackend(tenantStorage().storage) }),
  "under a policy": (backend) =>
    withPolicy(backend, { quota: { maxBytes: 1_000_000 }, inspect: () => pause(0) }),
};

for (const [name, wrap] of Object.entries(WRAPPED)) {
  test(`two tenants' edits wait for each other: a storage by context, ${name}`, async () => {
    const { storage, files } = tenantStorage();
    await race(through(wrap(new CustomBackend(storage))), (tenant) =>
      decode(files.get(tenant).get("/f").content),
    );
  });

  test(`two tenants' edits wait for each other: a namespace by context, ${name}`, async () => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ store, namespace: () => ["of", who.getStore()] });
    await race(through(wrap(backend)), async (tenant) => {
      const { value } = await store.get(["of", tenant], "/f");
      return value.content;
    });
  });
}

test("tools over one backend, two tenants at once", async () => {
  const { storage, files } = tenantStorage();
  const { call } = createFileTools(new CustomBackend(storage), { requireReadBeforeEdit: false });
  const asked = async (name, input) => {
    const { isError, text } = await call(name, input);
    assert.equal(isError, false, text);
  };
  const change = {
    write: (file_path, content) => asked("write_file", { file_path, content }),
    edit: (file_path, old_string, new_string) =>
      asked("edit_file", { file_path, old_string, new_string }),
  };
  await race(change, (tenant) => decode(files.get(tenant).get("/f").content));
});

test("callbacks of a policy are asked in the context of the call", async () => {
  const { storage } = tenantStorage();
  const mixed = [];
  const note = (what) => {
    const [, tenant] = /^\/(.)/.exec(what.path);
    if (tenant !== who.getStore()) mixed.push([what.operation, tenant, who.getStore()]);
  };
  const backend = withPolicy(new CustomBackend(storage), {
    quota: { maxBytes: 1_000_000 },
    permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }],
    onAsk: async (asked) => {
      note(asked);
      await pause(0);
      return true;
    },
    inspect: note,
    audit: note,
    hooks: { before: note, after: note },
  });
  await Promise.all(
    Array.from({ length: 60 }, (_, at) => {
      const tenant = TENANTS[at % 2];
      return who.run(tenant, () => sound(backend.write(`/${tenant}/${at}`, "x")));
    }),
  );
  assert.deepEqual(mixed, []);
});
