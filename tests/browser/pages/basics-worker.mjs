import { smoke } from "/pages/basics.mjs";
onmessage = async (e) => { postMessage(await smoke(e.data).catch(String)); };
