// Names that a block of the documents uses and a sentence around it declares.

import type * as kitbag from "kitbag";

declare global {
  const backend: kitbag.BackendProtocolV2;
  const v1Backend: kitbag.BackendProtocolV1;
  const v1Sandbox: kitbag.SandboxBackendProtocolV1;
  const StoreBackend: typeof kitbag.StoreBackend;
}
