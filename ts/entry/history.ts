// `kitbag/history`: notes what each change replaced, so that it can be put back. A page that does not
// import it has none of its code.

export * from "../backend/history.js";
