// The lint of matches over requests: what it finds, and what it lets pass.

import assert from "node:assert/strict";
import { test } from "node:test";
import { silent, silentMatches } from "../../scripts/lib/requests.mjs";

const FOUND = [
  "if let Request::Ls(path) = request {",
  "if let Some(Request::Ls(path)) = request.take() {",
  "while let Some(Request::Read(..)) = next() {",
  "let Request::Ls(path) = request else { return };",
  "let known = matches!(request, Request::Ls(_) | Request::Glob(_));",
  "matches!(\n    &self.request,\n    Some(Request::Execute(..))\n)",
  "match (request, judges) {\n    (Request::Ls(path), true) => judged(path),\n    _ => pass(),\n}",
  "match next {\n    Some(Request::Ls(path)) => judged(path),\n    _ => pass(),\n}",
];
for (const text of FOUND) {
  test(`found: ${text.split("\n")[0]}`, () => assert.equal(silent(text).length, 1));
}

const PASSED = [
  "match request {\n    Request::Ls(path) => 1,\n    Request::Write(path, _) | Request::Edit(path, _) => 2,\n}",
  "match request {\n    Request::Ls(path)\n    | Request::Write(path, _) if judges(path) => 1,\n}",
  "Ok(()) => inner.call(Request::Upload(files)),",
  "let answer = inner.call(Request::Ls(path));",
  "let call = |request: Request<'_>| matches!(stage, Stage::Done);",
  "// if let Request::Ls(path) = request",
  "#[cfg(test)]\nmod tests {\n    fn ls() { if let Request::Ls(path) = request {} }\n}",
];
for (const text of PASSED) {
  test(`passed: ${text.split("\n")[0]}`, () => assert.deepEqual(silent(text), []));
}

test("no layer is silent about a request", () => assert.deepEqual(silentMatches(), []));
