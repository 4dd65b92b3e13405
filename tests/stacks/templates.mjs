// The frameworks' own templates, and our lines in them.

const ROUTE = (
  runtime,
  body,
) => `import { StateBackend${runtime === "nodejs" ? ", FilesystemBackend" : ""} } from "kitbag";
${body}
export const runtime = ${JSON.stringify(runtime)};
export const dynamic = "force-dynamic";
`;

/** A project of Next.js with the app router. */
export function nextFiles() {
  return {
    "app/layout.tsx": `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
    "app/page.tsx": `import { StateBackend } from "kitbag";
import { revalidatePath } from "next/cache";

export const dynamic = "force-dynamic";
const saved = new StateBackend({ scope: "instance" });

async function save(form: FormData) {
  "use server";
  await saved.delete("/action.txt");
  await saved.write("/action.txt", String(form.get("text")));
  revalidatePath("/");
}

export default async function Page() {
  const files = new StateBackend();
  await files.write("/a.txt", "server component");
  const action = await saved.read("/action.txt");
  return (
    <main>
      <p id="component">{String((await files.read("/a.txt")).content)}</p>
      <p id="action">{action.error ? "nothing" : String(action.content)}</p>
      <form action={save}>
        <input name="text" />
        <button>save</button>
      </form>
    </main>
  );
}
`,
    "app/api/node/route.ts": ROUTE(
      "nodejs",
      `import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
export async function GET() {
  const began = performance.now();
  const memory = new StateBackend();
  await memory.write("/a.txt", "memory");
  const first = performance.now() - began;
  const rootDir = mkdtempSync(join(tmpdir(), "kitbag-next-"));
  try {
    const disk = new FilesystemBackend({ rootDir, virtualMode: true });
    await disk.write("/a.txt", "disk");
    const texts = [await memory.read("/a.txt"), await disk.read("/a.txt")].map((file) => file.content);
    return Response.json({ text: texts.join(" "), first });
  } finally {
    rmSync(rootDir, { recursive: true });
  }
}`,
    ),
    "app/api/edge/route.ts": ROUTE(
      "edge",
      `export async function GET() {
  const began = performance.now();
  const memory = new StateBackend();
  await memory.write("/a.txt", "memory");
  const first = performance.now() - began;
  return Response.json({ text: (await memory.read("/a.txt")).content, first });
}`,
    ),
    "app/client/page.tsx": `"use client";
import { useEffect } from "react";
// @ts-ignore: plain JavaScript
import { says } from "../../page.js";

export default function Client() {
  useEffect(() => {
    says().then(
      (said: unknown) => Object.assign(globalThis, { said }),
      (error: unknown) => Object.assign(globalThis, { said: String(error) }),
    );
  }, []);
  return <p>files in this page</p>;
}
`,
  };
}

/** A project of SvelteKit with its adapter for Node. */
export function svelteFiles() {
  return {
    "package.json": '{ "name": "stack", "private": true, "type": "module" }\n',
    "svelte.config.js": `import adapter from "@sveltejs/adapter-node";
export default { kit: { adapter: adapter() } };
`,
    "vite.config.js": `import { sveltekit } from "@sveltejs/kit/vite";
export default { plugins: [sveltekit()] };
`,
    "src/app.html": `<!doctype html><html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>
`,
    "src/routes/+page.svelte": `<script>
  import { onMount } from "svelte";
  import { says } from "../../page.js";
  onMount(async () => {
    globalThis.said = await says().catch(String);
  });
</script>
<p>files in this page</p>
`,
    "src/routes/api/+server.js": `import { says } from "../../../node.mjs";
export const GET = async () => Response.json(await says());
`,
  };
}

/** What the routes of `nitroFiles` and `nuxtFiles` answer. */
export const NITRO_ANSWERS = {
  "/files": "memory disk",
  "/subpaths": "1 1 labelled copied synced 1 object true",
};

const NITRO_ROUTES = [
  ["files", "node"],
  ["subpaths", "subpaths"],
];

/** A project of Nitro, with a route that uses `kitbag` and one that uses subpaths. */
export function nitroFiles() {
  const routes = NITRO_ROUTES.map(([route, program]) => [
    `routes/${route}.mjs`,
    `import { defineEventHandler } from "h3";
import { says } from "../${program}.mjs";
export default defineEventHandler(() => says());
`,
  ]);
  return {
    "nitro.config.mjs": 'export default { compatibilityDate: "2026-01-01" };\n',
    ...Object.fromEntries(routes),
  };
}

/** A project of Nuxt: the same routes, and a page that is rendered on the server and then runs. */
export function nuxtFiles() {
  const routes = NITRO_ROUTES.map(([route, program]) => [
    `server/routes/${route}.mjs`,
    `import { defineEventHandler } from "h3";
import { says } from "../../${program}.mjs";
export default defineEventHandler(() => says());
`,
  ]);
  return {
    "package.json": '{ "name": "stack", "private": true, "type": "module" }\n',
    "nuxt.config.mjs": 'export default { compatibilityDate: "2026-01-01" };\n',
    "app/app.vue": `<script setup>
import { StateBackend } from "kitbag";
import { says } from "../page.js";

const { data } = await useAsyncData("rendered", async () => {
  const files = new StateBackend({ files: { "/a.txt": "rendered" } });
  return (await files.read("/a.txt")).content;
});
onMounted(async () => {
  globalThis.said = await says().catch(String);
});
</script>
<template><p id="rendered">{{ data }}</p></template>
`,
    ...Object.fromEntries(routes),
  };
}
