// The test's services, called from a page or a Worker. Bytes cross as base64.

const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export const encoded = (value) =>
  JSON.stringify(value ?? null, (_, one) =>
    one instanceof Uint8Array ? { base64: toBase64(one) } : one,
  );

export const decoded = (text) =>
  JSON.parse(text, (_, one) => (typeof one?.base64 === "string" ? fromBase64(one.base64) : one));

/** `{ query, execute, folder }` of the server at `origin`. */
export function remote(origin) {
  const calling = (name) => [
    name,
    async (...given) => {
      const answer = await fetch(`${origin}/${name}`, { method: "POST", body: encoded(given) });
      const said = await answer.text();
      if (!answer.ok) throw new Error(said);
      return decoded(said);
    },
  ];
  return Object.fromEntries(["query", "execute", "folder"].map(calling));
}
