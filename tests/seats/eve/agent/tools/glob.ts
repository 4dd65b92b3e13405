export { default } from "eve/tools/glob";
