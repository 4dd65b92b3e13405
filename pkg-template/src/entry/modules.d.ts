// What the build provides under these names.

declare module "#wasm-base64" {
  const text: string;
  export default text;
}

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
