// Binaryen's optimiser as a library: its command line takes three seconds to start, for each of two
// dozen modules. The bytes are those of `wasm-opt -O2 --shrink-level=2`.

const FEATURES = [
  ...["MutableGlobals", "SignExt", "NontrappingFPToInt", "Multivalue"],
  ...["SIMD128", "BulkMemory", "BulkMemoryOpt", "ReferenceTypes", "CallIndirectOverlong"],
];

/**
 * Optimises a module. `shrink` 0 gives more bytes than 2, but fewer after compression: it inlines
 * less, and similar code stays similar.
 */
export async function optimised(wasm, { shrink = 0 } = {}) {
  const { default: binaryen } = await import("binaryen");
  const features = FEATURES.reduce((all, name) => all | binaryen.Features[name], 0);
  binaryen.setOptimizeLevel(2);
  binaryen.setShrinkLevel(shrink);
  const module = binaryen.readBinary(wasm);
  try {
    module.setFeatures(features);
    module.optimize();
    // As it is written, locals that are used once become values on the stack.
    binaryen.setShrinkLevel(2);
    binaryen.setGenerateStackIR(true);
    binaryen.setOptimizeStackIR(true);
    return Buffer.from(module.emitBinary());
  } finally {
    module.dispose();
  }
}
