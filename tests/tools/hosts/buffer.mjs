// `Buffer` for the page, as a bundler fills it in: deepagents' own `read_file` makes base64 of a
// picture with it. esbuild puts it where the name is used and nowhere else.

export { Buffer } from "buffer/";
