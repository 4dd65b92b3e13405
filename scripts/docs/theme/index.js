// VitePress's own theme with the fonts of the reader's system, so no font is downloaded, and with the
// colours and the mark of the playground. `tokens.css` and `bag.ts` are the playground's own.

import Theme from "vitepress/theme-without-fonts";
import { h } from "vue";
import { BAG } from "./bag.ts";
import "./tokens.css";
import "./style.css";

const mark = () =>
  h("svg", { class: "bag", viewBox: "0 0 16 16", "aria-hidden": "true" }, [
    h("path", { d: BAG, fill: "currentColor", "fill-rule": "evenodd" }),
  ]);

export default {
  extends: Theme,
  Layout: () => h(Theme.Layout, null, { "nav-bar-title-before": mark }),
};
