// Attempts at what rules forbid, each with a verb. `/secret` may be neither read nor written, `/fixed` not
// written. Imported by tests of several versions of Node, so it imports nothing.

export const SECRET = "the secret text";
export const FILES = {
  "/secret/key.txt": SECRET,
  "/fixed/a.txt": "fixed",
  "/fixed/sub/b.txt": "fixed below",
  "/open/b.txt": "open",
};
export const PERMISSIONS = [
  { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
  { operations: ["write"], paths: ["/fixed/**"], mode: "deny" },
];

/** Verb and arguments. */
export const ATTEMPTS = [
  ["read", "/secret/key.txt"],
  ["read", "secret/key.txt"],
  ["read", "/open/../secret/key.txt"],
  ["read", "//secret//./key.txt"],
  ["read", "/secret/missing.txt"],
  ["tail", "/secret/key.txt"],
  ["tail", "/open/../secret/key.txt"],
  ["write", "/secret/key.txt"],
  ["write", "/secret/new.txt"],
  ["write", "/fixed/a.txt"],
  ["write", "fixed/new.txt"],
  ["write", "/fixed/deep/new.txt"],
  ["write", "/open/../fixed/a.txt"],
  ["write", "//fixed//a.txt"],
  ["append", "/secret/key.txt"],
  ["append", "/fixed/a.txt"],
  ["append", "/open/./../fixed/a.txt"],
  ["edit", "/secret/key.txt", "secret"],
  ["edit", "/fixed/a.txt", "fixed"],
  ["edit", "/open/../fixed/sub/b.txt", "below"],
  ["tryEdit", "/secret/key.txt", "secret"],
  ["tryEdit", "/open/../secret/key.txt", "nothing of the kind"],
  ["tryEdit", "/fixed/a.txt", "fixed"],
  ["remove", "/secret/key.txt"],
  ["remove", "/fixed/a.txt"],
  ["remove", "/fixed/sub"],
  ["remove", "/secret"],
  ["remove", "/open/../fixed"],
  ["move", "/secret/key.txt", "/open/k.txt"],
  ["move", "/secret", "/open/s"],
  ["move", "/fixed/a.txt", "/open/f.txt"],
  ["move", "/fixed/sub", "/open/f"],
  ["move", "/open/b.txt", "/fixed/b.txt"],
  ["move", "/open/b.txt", "/fixed/a.txt"],
  ["move", "/open/b.txt", "/secret/b.txt"],
  ["copy", "/secret/key.txt", "/open/k.txt"],
  ["copy", "/open/../secret/key.txt", "/open/k.txt"],
  ["copy", "/open/b.txt", "/fixed/b.txt"],
  ["copy", "/open/b.txt", "/secret/key.txt"],
  ["list", "/secret"],
  ["list", "/open/../secret"],
  ["search", "secret text", "/"],
  ["search", "secret text", "/secret"],
  ["command", "cat /secret/key.txt"],
  ["command", "cp /secret/key.txt /open/k.txt"],
  ["command", "mv /fixed/a.txt /open/f.txt"],
  ["command", "echo x > /fixed/a.txt"],
  ["command", "echo x >> /open/../secret/key.txt"],
  ["command", "rm -rf /secret /fixed"],
];

/** What a seat says of an attempt, and whether that is a refusal. */
export async function attempted(seat, [verb, ...args]) {
  try {
    const value = await seat[verb](...args);
    const said = JSON.stringify(value) ?? "";
    return {
      said,
      refused:
        /error|denied|refus|cannot|not found|no match/i.test(said) || /^(null|\[\]|"")$/.test(said),
    };
  } catch (error) {
    return { said: `${error?.message} ${JSON.stringify(error)}`, refused: true };
  }
}
