// A Worker with one Durable Object per user. The object keeps the conversation and answers one
// message at a time; the files of the user are in R2, below a prefix, and over HTTP for the user's pages.

import { DurableObject } from "cloudflare:workers";
import { R2Backend, withPolicy } from "kitbag";
import { fileTools } from "kitbag/openai";
import { serveFiles } from "kitbag/server";
import { answer } from "./agent.js";

export class Agent extends DurableObject {
  #turn = Promise.resolve();
  #serve;

  /** Answers a message of the user; messages wait for each other. */
  chat(user, text) {
    const turn = this.#turn.then(() => this.#answer(user, text));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** The user's files over HTTP, for `HttpBackend` and `fetch`. */
  fetch(request) {
    const [, user] = /^\/files\/([\w-]+)/.exec(new URL(request.url).pathname) ?? [];
    this.#serve ??= serveFiles(() => this.#tree(user), { path: `/files/${user}` });
    return this.#serve(request);
  }

  #tree(user) {
    const bucket = new R2Backend({
      bucket: this.env.FILES,
      prefix: `users/${user}`,
      writeMode: "overwrite",
    });
    return withPolicy(bucket, { quota: { maxBytes: 10_000_000 } });
  }

  async #answer(user, text) {
    const files = fileTools(this.#tree(user), { api: "chat" });
    const messages = (await this.ctx.storage.get("messages")) ?? [];
    messages.push({ role: "user", content: text });
    const { MODEL_URL: url, MODEL_KEY: key, MODEL: model } = this.env;
    const said = await answer({ url, key, model, files, messages });
    await this.ctx.storage.put("messages", messages);
    return said;
  }
}

export default {
  async fetch(request, env) {
    const [, part, user] =
      /^\/(chat|files)\/([\w-]+)(?=\/|$)/.exec(new URL(request.url).pathname) ?? [];
    if (!user || (part === "chat" && request.method !== "POST")) {
      return new Response("POST /chat/USER, or /files/USER/PATH", { status: 404 });
    }
    // In your program: find out who the user is before this line.
    const agent = env.AGENT.get(env.AGENT.idFromName(user));
    if (part === "files") return agent.fetch(request);
    return new Response(await agent.chat(user, await request.text()));
  },
};
