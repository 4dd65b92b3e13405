// The server scenarios of MCP's conformance tool, and why some do not apply to a server of files.

const NO = {
  prompts: "kitbag offers no prompts",
  completion: "kitbag completes no arguments",
  logging: "kitbag sends no log messages",
  sampling: "kitbag asks no model",
  progress: "the tools of kitbag tell no progress",
  fixture: "needs a tool of the test's own, which does something else than a tool of files",
  headers: "no tool of kitbag has an argument in a header",
  polling: "needs a tool that ends its stream early, and a program's own store of events",
  skills: "an extension that kitbag does not have: skills",
  tasks: "an extension that kitbag does not have: tasks",
};

/** What does not apply: scenario → reason. */
export const NOT_APPLICABLE = {
  "logging-set-level": NO.logging,
  "tools-call-with-logging": NO.logging,
  "completion-complete": NO.completion,
  "tools-call-with-progress": NO.progress,
  "tools-call-sampling": NO.sampling,
  "tools-call-mixed-content": NO.fixture,
  "json-schema-2020-12": NO.fixture,
  "elicitation-sep1034-defaults": NO.fixture,
  "elicitation-sep1330-enums": NO.fixture,
  "server-sse-polling": NO.polling,
  "prompts-list": NO.prompts,
  "prompts-get-simple": NO.prompts,
  "prompts-get-with-args": NO.prompts,
  "prompts-get-embedded-resource": NO.prompts,
  "prompts-get-with-image": NO.prompts,
  "input-required-result-non-tool-request": NO.prompts,
  "http-custom-header-server-validation": NO.headers,
  "input-required-result-basic-sampling": NO.sampling,
  "input-required-result-capability-check": NO.sampling,
  "input-required-result-multiple-input-requests": NO.sampling,
  "input-required-result-basic-elicitation": NO.fixture,
  "input-required-result-multi-round": NO.fixture,
  "sep-2640-skills-directory": NO.skills,
  "sep-2640-skills-enumeration": NO.skills,
  "sep-2640-skills-manifest": NO.skills,
  "tasks-lifecycle": NO.tasks,
  "tasks-capability-negotiation": NO.tasks,
  "tasks-wire-fields": NO.tasks,
  "tasks-request-state-removal": NO.tasks,
  "tasks-mrtr-input": NO.tasks,
  "tasks-request-headers": NO.tasks,
  "tasks-dispatch-and-envelope": NO.tasks,
  "tasks-status-notifications": NO.tasks,
  "tasks-required-task-error": NO.tasks,
  "tasks-mrtr-composition": NO.tasks,
};

/** Checks of other scenarios that fail: check → why. */
export const CHECKS = {
  "sep-2549-prompts-list-caching-hints": NO.prompts,
  "sep-2575-server-rejects-undeclared-capability": NO.sampling,
  "sep-2575-missing-capability-http-400": NO.sampling,
  "sep-2322-reject-tampered-state":
    "difference: a state that is refused is a result with isError, which tells the model what to do",
};

/** What the tool calls, and what is called here instead: the same over files. */
export const TOOLS = {
  test_simple_text: ["read_file", { file_path: "/text.txt" }],
  test_image_content: ["read_file", { file_path: "/red.png" }],
  test_audio_content: ["read_file", { file_path: "/tone.wav" }],
  test_embedded_resource: ["read_file", { file_path: "/paper.pdf" }],
  test_error_handling: ["read_file", { file_path: "/missing.txt" }],
  test_elicitation: ["commit", {}],
  test_input_required_result_elicitation: ["commit", {}],
  test_input_required_result_request_state: ["commit", {}],
  test_input_required_result_tampered_state: ["commit", {}],
  test_input_required_result_list_roots: ["ls", { path: "/" }],
};

export const RESOURCES = {
  "test://static-text": "kitbag:///text.txt",
  "test://static-binary": "kitbag:///red.png",
  "test://template/123/data": "kitbag:///123/data",
  "test://watched-resource": "kitbag:///text.txt",
};
