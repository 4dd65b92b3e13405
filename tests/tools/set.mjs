// Which set of `tests/deps` the tests of this folder use: `agents`, or `newest`, where the frameworks have
// the newest versions. The suites set the variable.

export const SET = process.env.KITBAG_TOOLS_SET ?? "agents";

/** The era in which MCP is spoken, if version 2 of its SDK is used instead of version 1. */
export const ERA = process.env.KITBAG_MCP_ERA;

/** The code of a resource that there is not; version 2 of the SDK sends no other. */
export const NOT_FOUND = ERA ? -32602 : -32002;
