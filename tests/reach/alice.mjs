// A user whom the rules of a server allow little: Alice may write below /alice and read /public.

export const SECRET = "S3CRET-of-the-server";

export const rules = {
  permissions: [
    { operations: ["read", "write"], paths: ["/alice/**"], mode: "allow" },
    { operations: ["read"], paths: ["/public/**"], mode: "allow" },
    { operations: ["read", "write"], paths: ["/**"], mode: "deny" },
  ],
};

/** What others have. */
export const files = {
  "/alice/own.txt": "hers",
  "/public/a.txt": "everybody's",
  "/secret/key.txt": SECRET,
  "/bob/diary.txt": `${SECRET} of bob`,
};

/** Everything in a tree but what is Alice's. */
export const others = (state) =>
  JSON.stringify(
    state
      .glob("**", "/")
      .files.filter(({ path }) => !path.startsWith("/alice/"))
      .map(({ path }) => [path, state.readRaw(path).data.content]),
  );
