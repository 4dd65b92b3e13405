// Binaryen's optimiser as a library: its command line takes three seconds to start, for each of two
// dozen modules. The bytes are those of `wasm-opt -O2 --shrink-level=2`, with the functions in another order.

import { namedInOrder } from "./order.mjs";

const FEATURES = [
  ...["MutableGlobals", "SignExt", "NontrappingFPToInt", "Multivalue"],
  ...["SIMD128", "BulkMemory", "BulkMemoryOpt", "ReferenceTypes", "CallIndirectOverlong"],
];

/**
 * Optimises a module. `shrink` 0 gives more bytes than 2, but fewer after compression: it inlines
 * less, and similar code stays similar. `order` is that of the functions.
 */
export async function optimised(wasm, { shrink = 0, order } = {}) {
  const { default: binaryen } = await import("binaryen");
  binaryen.setOptimizeLevel(2);
  binaryen.setShrinkLevel(shrink);
  binaryen.setGenerateStackIR(false);
  const smaller = changed(binaryen, wasm, (module) => module.optimize());
  // As it is written, locals that are used once become values on the stack.
  binaryen.setShrinkLevel(2);
  binaryen.setGenerateStackIR(true);
  binaryen.setOptimizeStackIR(true);
  return changed(binaryen, namedInOrder(smaller, order), (module) =>
    module.runPasses(["reorder-functions-by-name"]),
  );
}

function changed(binaryen, wasm, change) {
  const features = FEATURES.reduce((all, name) => all | binaryen.Features[name], 0);
  const module = binaryen.readBinary(wasm);
  try {
    module.setFeatures(features);
    change(module);
    return Buffer.from(module.emitBinary());
  } finally {
    module.dispose();
  }
}
