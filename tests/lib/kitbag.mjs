// The built package, as the tests in Node import it.

export * from "../../pkg/dist/node.js";
