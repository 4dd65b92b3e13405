// The page's program in a worker: web, shared or service.
import { says } from "./page.js";

const answer = (port) =>
  says().then(
    (said) => port.postMessage(said),
    (e) => port.postMessage(String(e)),
  );
if ("onconnect" in globalThis) globalThis.onconnect = ({ ports }) => answer(ports[0]);
else if ("clients" in globalThis) globalThis.onmessage = ({ ports }) => answer(ports[0]);
else answer(globalThis);
