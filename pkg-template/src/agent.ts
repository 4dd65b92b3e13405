// What an agent works with: memory, router, policies, tools. All of it runs in `kitbag.wasm`.

export {
  adaptBackendProtocol,
  adaptSandboxProtocol,
  type BackendProtocolV1,
  toV1,
} from "./adapt.js";
export { Backend } from "./backend.js";
export { type AnyBackend, CompositeBackend } from "./composite.js";
export { KitbagPanic } from "./core/panic.js";
export { type Channel, type SharedState, shareState } from "./mirror.js";
export {
  type AuditRecord,
  type FilesystemPermission,
  type InspectedOperation,
  type InspectVerdict,
  type Policy,
  type PolicyCall,
  PolicyWrapper,
  type Quota,
  type Rate,
  type RateLimit,
  type RingAudit,
  ringAudit,
  withPolicy,
} from "./policy.js";
export { StateBackend, type StateBackendOptions, type StateRuntime } from "./state.js";
export {
  type BackendOrFactory,
  type ContentBlock,
  createFileTools,
  type FileTool,
  type FileToolName,
  type FileTools,
  type FileToolsOptions,
  type InputSchema,
  type OffloadCall,
  resolveBackend,
  type ToolCall,
  type ToolOutput,
  type ToolResult,
} from "./tools.js";
export type * from "./types.js";
