// As much of Node's experimental modules as the pages need; its types for Node 20 have none of them.

declare module "node:vfs" {
  class VirtualProvider {}
  const vfs: {
    VirtualProvider: typeof VirtualProvider;
    create(provider: VirtualProvider): { mount(): string };
  };
  export default vfs;
}
