import build from "#build";

/** The error for files of several builds: they name places in the memory of their own. */
export function mixed(is: string, of: string, name: string): Error {
  return new Error(
    `kitbag: the WebAssembly "${is}" of build ${of} stands where "${name}" of build ${build} belongs; take all files from one version of the package`,
  );
}
