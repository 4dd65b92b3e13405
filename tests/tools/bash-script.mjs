// Thirty shell commands over the files of a backend: what each prints, and which files there are
// afterwards, read through the protocol. No import, since it runs in pages and Workers too.

/** A command, what it prints, and its exit code where that is not 0. */
export const SCRIPT = [
  ["mkdir -p /w/src /w/docs", ""],
  ["echo 'alpha beta' > /w/src/a.txt", ""],
  ["echo gamma >> /w/src/a.txt", ""],
  ["cat /w/src/a.txt", "alpha beta\ngamma\n"],
  ["printf 'x=1\\ny=2\\n' > /w/src/b.ini", ""],
  ["sed -i 's/x=1/x=10/' /w/src/b.ini", ""],
  ["cat < /w/src/b.ini", "x=10\ny=2\n"],
  ["grep -r beta /w", "/w/src/a.txt:alpha beta\n"],
  ["grep -rl 'y=' /w | sort", "/w/src/b.ini\n"],
  ["grep -r nowhere /w", "", 1],
  ["find /w -type f | sort", "/w/src/a.txt\n/w/src/b.ini\n"],
  ["find /w -name '*.ini'", "/w/src/b.ini\n"],
  ["cp /w/src/a.txt /w/docs/copy.txt", ""],
  ["mv /w/docs/copy.txt /w/docs/moved.txt", ""],
  ["ls /w/docs", "moved.txt\n"],
  ["wc -l < /w/docs/moved.txt | tr -d ' '", "2\n"],
  ["cat /w/src/*.txt | sort -r | head -n 1", "gamma\n"],
  ["for i in 1 2 3; do echo line $i >> /w/docs/loop.log; done", ""],
  ["awk '{ s += $2 } END { print s }' /w/docs/loop.log | tee /w/docs/sum.txt", "6\n"],
  ["cut -d= -f2 /w/src/b.ini | paste -sd+ -", "10+2\n"],
  ["echo '{\"a\": 1}' > /w/docs/d.json", ""],
  ["test -f /w/docs/d.json && test ! -d /w/none && echo yes", "yes\n"],
  ["cat /w/docs/none 2> /w/docs/err.txt; echo $?", "1\n"],
  ["grep -c 'No such file' /w/docs/err.txt", "1\n"],
  ["head -c 5 /w/src/a.txt", "alpha"],
  ["mkdir /w/empty && rmdir /w/empty && ls /w", "docs\nsrc\n"],
  ["rm /w/docs/err.txt", ""],
  ["rm -r /w/docs/loop.log", ""],
  ["sed -i -e '/gamma/d' -e 's/alpha/omega/' /w/src/a.txt", ""],
  ["echo 'ünï 日本' | tee /w/src/u.txt", "ünï 日本\n"],
];

/** The files under `/w` that the script leaves. */
export const FILES = {
  "/w/docs/d.json": '{"a": 1}\n',
  "/w/docs/moved.txt": "alpha beta\ngamma\n",
  "/w/docs/sum.txt": "6\n",
  "/w/src/a.txt": "omega beta\n",
  "/w/src/b.ini": "x=10\ny=2\n",
  "/w/src/u.txt": "ünï 日本\n",
};

/** Runs the script with `execute`, then reads the files of `backend`; what was wrong, if anything. */
export async function scriptFaults(backend, execute) {
  const faults = [];
  const expect = (what, found, wanted) => {
    const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (is !== should) faults.push(`${what}: ${is}, not ${should}`);
  };
  expect("commands", SCRIPT.length, 30);
  for (const [command, output, exitCode = 0] of SCRIPT) {
    const ran = await execute(command);
    expect(command, [ran.output, ran.exitCode], [output, exitCode]);
  }
  const { files, error } = await backend.glob("**", "/");
  const paths = (files ?? []).map(({ path }) => path).filter((path) => path.startsWith("/w/"));
  expect("files", error ?? paths.sort(), Object.keys(FILES));
  for (const [path, content] of Object.entries(FILES)) {
    const kept = await backend.readRaw(path);
    expect(`${path} by readRaw`, kept.error ?? kept.data.content, content);
  }
  const found = await backend.grep("beta", "/w");
  const matches = (found.matches ?? []).map(({ path, line, text }) => [path, line, text]);
  expect("beta by grep", found.error ?? matches, [
    ["/w/docs/moved.txt", 1, "alpha beta"],
    ["/w/src/a.txt", 1, "omega beta"],
  ]);
  return faults;
}
