// What an address says. Most are plain, and come with the host that the one before had: of those only the path is
// read, because to parse them takes as long as to look for the file.

/** What is used of an address; a `URL` is one. */
export type Address = Pick<URL, "hash" | "host" | "origin" | "pathname" | "search">;

/** An origin, and names of letters, digits and `~ - _ .`, none of which begins with a dot. */
const PLAIN = /^(https?:\/\/[\w.-]+(?::\d+)?)((?:\/[\w~-][\w~.-]*)+\/?|\/)$/;

/** Reads the addresses of a server's requests. */
export class Addresses {
  #begin: string | undefined;
  #origin = "";
  #host = "";

  /** Throws for what is no address. */
  read(text: string): Address {
    const [, begin, pathname = ""] = PLAIN.exec(text) ?? [];
    if (begin !== undefined && begin === this.#begin) {
      return { pathname, search: "", hash: "", host: this.#host, origin: this.#origin };
    }
    const url = new URL(text);
    this.#begin = begin;
    this.#origin = url.origin;
    this.#host = url.host;
    return url;
  }
}
