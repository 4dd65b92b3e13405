import { says } from "./node.mjs";

says().then((said) => console.log(`SAID ${JSON.stringify(said)}`));
