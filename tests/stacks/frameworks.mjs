// Templates of Astro, React Router and Rsbuild, and our lines in them; each has a test beside this file.

/** What `programs/isolate.mjs` says. */
export const ISOLATED = "memory own permission_denied";

/** A project of Astro with its adapter for Node: a page that is rendered and then runs, and a route. */
export const astroFiles = () => ({
  "package.json": '{ "name": "stack", "private": true, "type": "module" }\n',
  "astro.config.mjs": `import node from "@astrojs/node";
export default { output: "server", adapter: node({ mode: "standalone" }) };
`,
  "src/pages/index.astro": `---
import { StateBackend } from "kitbag";
const files = new StateBackend({ files: { "/a.txt": "rendered" } });
const text = files.read("/a.txt").content;
---
<html lang="en">
  <head><title>stack</title></head>
  <body>
    <p id="rendered">{text}</p>
    <script>
      import { says } from "../../page.js";
      says().then(
        (said) => Object.assign(globalThis, { said }),
        (error) => Object.assign(globalThis, { said: String(error) }),
      );
    </script>
  </body>
</html>
`,
  "src/pages/api.js": `import { says } from "../../node.mjs";
export const GET = async () => Response.json(await says());
`,
});

/** A project of React Router as a framework: a page with a loader that then runs, and a resource route. */
export const routerFiles = () => ({
  "package.json": '{ "name": "stack", "private": true, "type": "module" }\n',
  "vite.config.js": `import { reactRouter } from "@react-router/dev/vite";
export default { plugins: [reactRouter()] };
`,
  "app/routes.js": `import { index, route } from "@react-router/dev/routes";
export default [index("home.jsx"), route("api", "api.js")];
`,
  "app/root.jsx": `import { Outlet, Scripts } from "react-router";
export default function Root() {
  return (
    <html lang="en">
      <head><title>stack</title></head>
      <body><Outlet /><Scripts /></body>
    </html>
  );
}
`,
  "app/home.jsx": `import { StateBackend } from "kitbag";
import { useEffect } from "react";
import { says } from "../page.js";

export function loader() {
  const files = new StateBackend({ files: { "/a.txt": "rendered" } });
  return { text: files.read("/a.txt").content };
}

export default function Home({ loaderData }) {
  useEffect(() => {
    says().then(
      (said) => Object.assign(globalThis, { said }),
      (error) => Object.assign(globalThis, { said: String(error) }),
    );
  }, []);
  return <p id="rendered">{loaderData.text}</p>;
}
`,
  "app/api.js": `import { says } from "../node.mjs";
export const loader = async () => Response.json(await says());
`,
});

/** A project of Rsbuild for a page. */
export const rsbuildFiles = () => ({
  "package.json": '{ "name": "stack", "private": true, "type": "module" }\n',
  "rsbuild.config.mjs": `export default { source: { entry: { index: "./main.js" } } };
`,
});

/** A file for the edge runtime of Vercel and for Deno: what it says is its answer or its output. */
export const isolateFiles = () => ({
  "fetched.mjs": `import { says } from "./isolate.mjs";
addEventListener("fetch", (event) => {
  event.respondWith(says().then((said) => Response.json(said), (error) => new Response(String(error))));
});
`,
  "printed.mjs": `import { says } from "./isolate.mjs";
console.log("SAID " + JSON.stringify(await says()));
`,
});
