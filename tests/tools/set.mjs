// Which set of `tests/deps` the tests of this folder use: `agents`, or `newest`, where the frameworks have
// the newest versions. The suites set the variable.

export const SET = process.env.KITBAG_TOOLS_SET ?? "agents";
