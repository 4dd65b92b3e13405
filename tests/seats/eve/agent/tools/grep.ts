export { default } from "eve/tools/grep";
