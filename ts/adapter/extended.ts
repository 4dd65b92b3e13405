// What kitbag's own backends add to the protocol's methods, as the adapters use it: bytes as content, and
// conditions under which a change is made.

import type {
  BackendProtocolV2,
  CallOptions,
  DeleteOptions,
  DeleteResult,
  EditResult,
  TransferOptions,
  WriteOptions,
  WriteResult,
} from "kitbag";

/** The methods with kitbag's additions; other backends answer those with `unsupported`. */
export interface Extended {
  write(path: string, content: Uint8Array, options: WriteOptions): Promise<WriteResult>;
  edit(path: string, old: Uint8Array, fresh: Uint8Array): Promise<EditResult>;
  delete(path: string, options: DeleteOptions): Promise<DeleteResult>;
  move?(from: string, to: string, options: TransferOptions): Promise<WriteResult>;
  copy?(from: string, to: string, options: TransferOptions): Promise<WriteResult>;
  append?(path: string, content: Uint8Array, options: CallOptions): Promise<WriteResult>;
}

/** The same backend, called with kitbag's additions. */
export const extended = (files: BackendProtocolV2) => files as BackendProtocolV2 & Extended;
