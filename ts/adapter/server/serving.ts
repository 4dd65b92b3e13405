// The handler with all that a server may offer: files, and drives if they are wanted.

import { changedBeside, davRoutes, options as greeting } from "./dav/routes.js";
import { checkWebDav, webDavOf } from "./dav/server.js";
import { type BackendOf, handlerOf, pathOf } from "./handler.js";
import { checkServer, type FilesServerOptions } from "./options.js";
import type { Incoming } from "./served.js";

/** Answers requests as the options of `serveFiles` say. */
export function serving<R extends Incoming>(
  backendOf: BackendOf<R>,
  options?: FilesServerOptions,
): ReturnType<typeof handlerOf<R>> {
  if (typeof backendOf !== "function") {
    throw new TypeError(
      "serveFiles: the first argument must be a function that returns the backend of a request; it decides who may reach which files",
    );
  }
  const given = checkServer(options);
  const room = checkWebDav(options?.webdav, options?.client !== undefined);
  const webdav = webDavOf(room, (url) => pathOf(url, given.path));
  if (!webdav) return handlerOf(backendOf, given);
  return handlerOf(backendOf, given, {
    ...{ routes: davRoutes(webdav), greeting },
    beside: (call, fields, work) => changedBeside(webdav, call, fields, work),
  });
}
