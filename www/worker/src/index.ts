// The Worker: checks the token, and hands the request to the Durable Object of the workspace.

import { type Env, Workspace } from "./workspace";

export { Workspace };

/** Compares without telling by time how much of the token was right. */
async function same(a: string, b: string): Promise<boolean> {
  const digest = async (text: string) =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const [one, other] = [await digest(a), await digest(b)];
  return one.reduce((differs, byte, at) => differs | (byte ^ (other[at] ?? 0)), 0) === 0;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const given = request.headers.get("authorization") ?? "";
    if (!env.TOKEN || !(await same(given, `Bearer ${env.TOKEN}`))) {
      return Response.json({ error: "A valid token is needed" }, { status: 401 });
    }
    const name = /^\/([\w.-]{1,64})\//.exec(new URL(request.url).pathname)?.[1];
    if (!name)
      return Response.json({ error: "Use /NAME/mcp, /NAME/tools or /NAME/files" }, { status: 404 });
    return env.WORKSPACE.get(env.WORKSPACE.idFromName(name)).fetch(request);
  },
};
