// ContextHubBackend: files in a repository of LangSmith's Context Hub, through a client of the
// `langsmith` package or, with an `apiKey`, through the few requests that are implemented here.

import chunk from "#chunk/hub";
import { Options } from "../core/checks.js";
import { HubGiven } from "../core/descriptions.js";
import { create, take } from "../core/given.js";
import { sealClass } from "../core/handle.js";
import { codeOf } from "../core/http.js";
import { glue } from "../core/instance.js";
import { Backend } from "./backend.js";

/** An entry of a repository. In a push, `null` removes it. */
export type HubEntry =
  | {
      /** A file. */
      type: "file";
      /** The text of the file. */
      content: string;
    }
  | {
      /** The kind of a link, such as `agent` or `skill`. */
      type: string;
      /** Name of the linked repository. */
      repo_handle?: string;
    };

/** The methods of `langsmith`'s client that ContextHubBackend uses. */
export interface HubClient {
  /** Returns the newest commit of a repository and all its entries. */
  pullAgent(identifier: string): Promise<{
    /** The newest commit. */
    commit_hash: string;
    /** Its entries, by path without a leading `/`. */
    files: Record<string, HubEntry>;
  }>;
  /** Commits changes and returns the URL of the commit. Rejects if another commit came first. */
  pushAgent(
    identifier: string,
    options: {
      /** The changed entries by path; null removes one. */
      // biome-ignore lint/suspicious/noExplicitAny: langsmith's own entries are of narrower types
      files: Record<string, any>;
      /** The commit that the changes were made on. */
      parentCommit?: string;
    },
  ): Promise<string>;
}

/** Options of ContextHubBackend: `client` or `apiKey`, at most one of them. */
export interface ContextHubBackendOptions {
  /** A client of the `langsmith` package, or any object with its two methods. */
  client?: HubClient;
  /** Instead of `client`: the API key of the Hub. Default: `LANGSMITH_API_KEY` of the environment. */
  apiKey?: string;
  /** With `apiKey`: URL of the Hub. Default `https://api.smith.langchain.com`. */
  baseUrl?: string;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

const REPO =
  /^(?:(?:-|[A-Za-z0-9][A-Za-z0-9_.-]*)\/)?[A-Za-z0-9][A-Za-z0-9_.-]*(?::[A-Za-z0-9_.-]+)?$/;
const HUB = "https://api.smith.langchain.com";
const TIMEOUT_MS = 30_000;

/**
 * Files in a repository of LangSmith's Context Hub, text only. Changes become commits.
 *
 * @example
 * const backend = new ContextHubBackend("my-agent", { apiKey });
 */
export class ContextHubBackend extends Backend {
  readonly #hub: HubClient;
  readonly #repo: string;

  /**
   * @param repo Name of the repository: `owner/name`, or `name` for one of your own; with
   * `:version`, its files as of a commit or tag.
   */
  constructor(repo: string, options?: ContextHubBackendOptions) {
    if (typeof repo !== "string" || !REPO.test(repo) || repo.includes("..") || repo.length > 200) {
      throw new TypeError(
        "ContextHubBackend: repo must be `owner/name` or `name`, of letters, digits and - _ ., and may end with `:version`",
      );
    }
    const given = new Options("ContextHubBackend", options);
    const client = given.object("client") as HubClient | undefined;
    if (
      client &&
      (typeof client.pullAgent !== "function" || typeof client.pushAgent !== "function")
    ) {
      given.refuse("client", "an object with pullAgent() and pushAgent()", client);
    }
    const apiKey = given.text("apiKey") ?? (client ? undefined : keyOfHost());
    const baseUrl = given.text("baseUrl");
    if (client && baseUrl !== undefined) {
      given.excess("baseUrl", "where there is a client, which has its own");
    }
    const values = take(given, HubGiven);
    given.done();
    if ((client === undefined) === (apiKey === undefined)) {
      throw new TypeError(
        'ContextHubBackend: one of the options "client" and "apiKey" must be given, and not both; without them, LANGSMITH_API_KEY must be in the environment',
      );
    }
    const hub = client ?? new FetchClient(apiKey ?? "", baseUrl ?? HUB);
    chunk.load();
    const all = { ...values, client: hub, repo };
    super(create("ContextHubBackend", HubGiven, all, glue.context_hub_new));
    this.#hub = hub;
    this.#repo = repo;
  }

  /** Whether the repository exists and has a commit. Rejects if the Hub cannot be asked. */
  async hasPriorCommits(): Promise<boolean> {
    return (await this.#pulled()) !== undefined;
  }

  /** The linked agents and skills: path to name of their repository. Rejects likewise. */
  async getLinkedEntries(): Promise<Record<string, string>> {
    const pulled = await this.#pulled();
    const links = Object.entries(pulled?.files ?? {}).flatMap(([path, entry]) => {
      const handle = "repo_handle" in entry ? entry.repo_handle : undefined;
      return entry.type !== "file" && typeof handle === "string" ? [[path, handle]] : [];
    });
    return Object.fromEntries(links);
  }

  async #pulled(): Promise<Awaited<ReturnType<HubClient["pullAgent"]>> | undefined> {
    try {
      return await this.#hub.pullAgent(this.#repo);
    } catch (error) {
      const { status, name } = error as { status?: unknown; name?: unknown };
      if (status === 404 || name === "LangSmithNotFoundError") return undefined;
      throw error;
    }
  }
}

sealClass(ContextHubBackend);

/** The API key in the environment of the host, if it has one. */
function keyOfHost(): string | undefined {
  const host = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;
  try {
    return host?.env?.LANGSMITH_API_KEY || undefined;
  } catch {
    // A host that asks its user for each variable was told no.
    return undefined;
  }
}

/** A refusal of the Hub, with its HTTP status. */
class HubError extends Error {
  override name = "HubError";
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Makes the requests of `langsmith`'s client with `fetch`. */
class FetchClient implements HubClient {
  readonly #key: string;
  readonly #base: string;

  constructor(key: string, base: string) {
    const refusal = (why: string) => new TypeError(`ContextHubBackend: option ${why}`);
    let url: URL;
    try {
      url = new URL(base);
    } catch {
      throw refusal('"baseUrl" must be an http or https address');
    }
    if (url.protocol !== "https:" && url.protocol !== "http:") {
      throw refusal('"baseUrl" must be an http or https address');
    }
    if (url.username !== "" || url.password !== "") {
      throw refusal('"baseUrl" must have no user name and no password; use "apiKey"');
    }
    this.#key = key.trim();
    // A host that refuses the header would show the key in its error.
    if (!/^[\x21-\x7e]*$/.test(this.#key)) {
      throw refusal('"apiKey" must be one line of printable ASCII characters without spaces');
    }
    this.#base = url.href.replace(/\/+$/, "");
  }

  async pullAgent(identifier: string): ReturnType<HubClient["pullAgent"]> {
    const version = identifier.split(":")[1];
    const commit = version && version !== "latest" ? `&commit=${encodeURIComponent(version)}` : "";
    const url = `${this.#directories(identifier)}?repo_type=agent${commit}`;
    const answer = await this.#ask("pull", url, { method: "GET" });
    return (await answer.json()) as Awaited<ReturnType<HubClient["pullAgent"]>>;
  }

  async pushAgent(
    identifier: string,
    options: { files: Record<string, unknown>; parentCommit?: string },
  ): Promise<string> {
    const body: Record<string, unknown> = { files: options.files };
    if (options.parentCommit !== undefined) body.parent_commit = options.parentCommit;
    const url = `${this.#directories(identifier)}/commits`;
    const push = () => this.#ask("commit", url, post(body));
    let answer: Response;
    try {
      answer = await push();
    } catch (error) {
      if (!(error instanceof HubError) || error.status !== 404) throw error;
      await this.#create(identifier);
      answer = await push();
    }
    const { commit } = (await answer.json()) as { commit: { commit_hash: string } };
    return `${this.#base}/context/${nameOf(identifier)}/${commit.commit_hash}`;
  }

  async #create(identifier: string): Promise<void> {
    const body = { repo_handle: nameOf(identifier), repo_type: "agent", is_public: false };
    try {
      await this.#ask("create the repo", `${this.#base}/repos/`, post(body));
    } catch (error) {
      // 409: another writer created it in the meantime.
      if (!(error instanceof HubError) || error.status !== 409) throw error;
    }
  }

  #directories(identifier: string): string {
    const repo = identifier.split(":")[0] ?? "";
    const [owner, name] = repo.includes("/") ? repo.split("/", 2) : ["-", repo];
    const platform = this.#base.endsWith("/v1") ? "/platform" : "/v1/platform";
    const parts = [owner, name].map((part) => encodeURIComponent(part ?? ""));
    return `${this.#base}${platform}/hub/repos/${parts.join("/")}/directories`;
  }

  async #ask(what: string, url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("x-api-key", this.#key);
    let answer: Response;
    try {
      answer = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      const late = (error as { name?: unknown } | null)?.name === "TimeoutError";
      // The host's own message may contain the address or a header.
      const why = late ? "it did not answer in time" : (codeOf(error) ?? "the request failed");
      throw new Error(`The Hub could not be reached to ${what}: ${why}`);
    }
    if (answer.ok) return answer;
    const said = (await answer.text().catch(() => "")).slice(0, 500);
    throw new HubError(
      this.#told(`The Hub refused to ${what} (${answer.status}): ${said}`),
      answer.status,
    );
  }

  /** Removes the API key from a message. */
  #told(message: string): string {
    return this.#key === "" ? message : message.replaceAll(this.#key, "***");
  }
}

function post(body: unknown): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

function nameOf(identifier: string): string {
  return identifier.slice(identifier.lastIndexOf("/") + 1).split(":")[0] ?? "";
}
