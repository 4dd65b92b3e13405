// Stands in for Node's own modules, whose functions are not called in a page.

const none = () => {
  throw new Error("this function of Node is not available in a page");
};
export default {};
export const [gunzipSync, gzipSync, constants] = [none, none, {}];
export const [readFile, writeFile, mkdir, readdir, stat] = [none, none, none, none, none];
export const [join, resolve, dirname, basename, extname, relative] = Array(6).fill(none);
export const [inspect, promisify] = [String, none];
export const sep = "/";
