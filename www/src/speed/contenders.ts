// The storages that are compared, each in the way that its users would write it. All give the same
// answers, in one form.

export interface Contender {
  grep(text: string): string[];
  glob(ending: string): string[];
  page(path: string, offset: number, limit: number): string;
  edit(path: string, before: string, after: string): void;
  text(path: string): string;
}

type Result<T> = T & { error?: string };
const must = <T extends { error?: string }>(answer: T): T => {
  if (answer.error) throw new Error(answer.error);
  return answer;
};

export async function kitbag(files: Map<string, string>): Promise<Contender> {
  const { StateBackend } = await import("kitbag");
  const backend = new StateBackend({ scope: "instance", files: Object.fromEntries(files) });
  return {
    grep: (text) =>
      (must(backend.grep(text)).matches ?? []).map(({ path, line }) => `${path}:${line}`),
    glob: (ending) => (must(backend.glob(`**/*.${ending}`)).files ?? []).map(({ path }) => path),
    page: (path, offset, limit) => String(must(backend.read(path, offset, limit)).content),
    edit: (path, before, after) => void must(backend.edit(path, before, after)),
    text: (path) => String(must(backend.read(path, 0, 1_000_000)).content),
  };
}

interface Peer {
  grep(text: string, path: string): Result<{ matches?: Array<{ path: string; line: number }> }>;
  glob(pattern: string, path: string): Result<{ files?: Array<{ path: string }> }>;
  read(path: string, offset: number, limit: number): Result<{ content?: unknown }>;
  edit(path: string, before: string, after: string): Result<{ filesUpdate?: object }>;
}

export async function deepagents(files: Map<string, string>): Promise<Contender> {
  const { Buffer } = await import("buffer/");
  Object.assign(globalThis, { Buffer });
  const { StateBackend } = await import("deepagents");
  const now = new Date().toISOString();
  const state = {
    files: Object.fromEntries(
      [...files].map(([path, content]) => [
        path,
        { content, mimeType: "text/plain", created_at: now, modified_at: now },
      ]),
    ),
  };
  const backend = new StateBackend({ state } as never) as unknown as Peer;
  return {
    grep: (text) =>
      (must(backend.grep(text, "/")).matches ?? []).map(({ path, line }) => `${path}:${line}`),
    glob: (ending) =>
      (must(backend.glob(`**/*.${ending}`, "/")).files ?? []).map(({ path }) => path),
    page: (path, offset, limit) => String(must(backend.read(path, offset, limit)).content),
    // The graph would apply the update to its state.
    edit: (path, before, after) =>
      void Object.assign(state.files, must(backend.edit(path, before, after)).filesUpdate),
    text: (path) => String(must(backend.read(path, 0, 1_000_000)).content),
  };
}

export async function zenfs(files: Map<string, string>): Promise<Contender> {
  const { configureSingle, fs, InMemory } = await import("@zenfs/core");
  await configureSingle({ backend: InMemory });
  for (const [path, content] of files) {
    fs.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    fs.writeFileSync(path, content);
  }
  const text = (path: string) => fs.readFileSync(path, "utf8");
  function* walk(directory: string): Generator<string> {
    for (const entry of fs.readdirSync(directory, { withFileTypes: true }) as Array<{
      name: unknown;
      isDirectory(): boolean;
    }>) {
      const path = `${directory === "/" ? "" : directory}/${entry.name}`;
      if (entry.isDirectory()) yield* walk(path);
      else yield path;
    }
  }
  return {
    grep: (wanted) => {
      const out: string[] = [];
      for (const path of walk("/")) {
        const whole = text(path);
        if (!whole.includes(wanted)) continue;
        whole.split("\n").forEach((line, at) => {
          if (line.includes(wanted)) out.push(`${path}:${at + 1}`);
        });
      }
      return out;
    },
    glob: (ending) => [...walk("/")].filter((path) => path.endsWith(`.${ending}`)),
    page: (path, offset, limit) =>
      text(path)
        .split("\n")
        .slice(offset, offset + limit)
        .join("\n"),
    edit: (path, before, after) => {
      const whole = text(path);
      if (whole.split(before).length !== 2) throw new Error(`${before} is not there once`);
      fs.writeFileSync(
        path,
        whole.replace(before, () => after),
      );
    },
    text,
  };
}
