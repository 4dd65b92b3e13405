import { says } from "./page.js";

says().then(
  (said) => {
    globalThis.said = said;
  },
  (error) => {
    globalThis.said = String(error);
  },
);
