// A Worker with one Durable Object per user. The object keeps the conversation and answers one
// message at a time; the files of the user are in R2, below a prefix.

import { DurableObject } from "cloudflare:workers";
import { R2Backend, withPolicy } from "kitbag";
import { fileTools } from "kitbag/openai";
import { answer } from "./agent.js";

export class Agent extends DurableObject {
  #turn = Promise.resolve();

  /** Answers a message of the user; messages wait for each other. */
  chat(user, text) {
    const turn = this.#turn.then(() => this.#answer(user, text));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #answer(user, text) {
    const bucket = new R2Backend({
      bucket: this.env.FILES,
      prefix: `users/${user}`,
      writeMode: "overwrite",
    });
    const files = fileTools(withPolicy(bucket, { quota: { maxBytes: 10_000_000 } }), {
      api: "chat",
    });
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
    const [, user] = /^\/chat\/([\w-]+)$/.exec(new URL(request.url).pathname) ?? [];
    if (!user || request.method !== "POST") return new Response("POST /chat/USER", { status: 404 });
    // In your program: find out who the user is before this line.
    const agent = env.AGENT.get(env.AGENT.idFromName(user));
    return new Response(await agent.chat(user, await request.text()));
  },
};
