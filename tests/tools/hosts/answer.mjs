// Answers a Worker's requests: the path names a driver, which runs with D1 mounted at `/notes/`, or
// the shell, which runs over D1 alone.

import { D1Backend } from "kitbag";
import { perform } from "./perform.mjs";

export async function answer(request, env, drivers) {
  const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
  const namespace = name.replace(/\W+/g, "-");
  const open = () => new D1Backend({ database: env.DB, namespace, migrate: true });
  try {
    return Response.json(await perform(name, drivers, open));
  } catch (error) {
    return new Response(error?.stack ?? String(error), { status: 500 });
  }
}
