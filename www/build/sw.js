// The service worker, behind a head that states VERSION and FILES. Every file is stored when the
// page is first opened; files of the same origin only, and nothing else is answered.

/* global VERSION, FILES */

const CACHE = `kitbag-playground-${VERSION}`;

self.addEventListener("install", (event) => {
  const store = async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES);
    await self.skipWaiting();
  };
  event.waitUntil(store());
});

self.addEventListener("activate", (event) => {
  const replace = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("kitbag-playground-") && name !== CACHE) await caches.delete(name);
    }
    await self.clients.claim();
  };
  event.waitUntil(replace());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const scope = new URL(self.registration.scope);
  const ours = url.origin === scope.origin && url.pathname.startsWith(scope.pathname);
  if (event.request.method !== "GET" || !ours) return;
  const answer = async () => {
    const cache = await caches.open(CACHE);
    const page = event.request.mode === "navigate";
    // A new build is seen at the next start: the network is asked first for the page alone.
    if (page) {
      try {
        return await fetch(event.request);
      } catch {
        const start = url.pathname === scope.pathname || url.pathname.endsWith("/index.html");
        return (await cache.match(start ? "./" : event.request)) ?? Response.error();
      }
    }
    return (await cache.match(event.request)) ?? fetch(event.request);
  };
  event.respondWith(answer());
});
