// A PostgreSQL of the test's own: a private directory, a free port of loopback, a user of its
// own where the test runs as root (PostgreSQL refuses to run as root). It can be killed the hard
// way and started again, and is gone when the test ends.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Where PostgreSQL's programs are, as setup found them. */
function programs() {
  const server = process.env.KITBAG_POSTGRES;
  if (server) return dirname(server);
  throw new Error("KITBAG_POSTGRES names no server: this suite needs `postgres`");
}

/** A port of loopback that nobody uses. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Who runs it: another user when we are root. */
function owner() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }).trim());
  return { uid: id("-u"), gid: id("-g") };
}

export class Postgres {
  #bin = programs();
  #owner = owner();
  #base = mkdtempSync(join(tmpdir(), "kitbag-postgres-"));
  #process;
  port = 0;

  static async start() {
    const server = new Postgres();
    try {
      if (server.#owner.uid !== undefined) {
        chownSync(server.#base, server.#owner.uid, server.#owner.gid);
      }
      const data = join(server.#base, "data");
      const initialise = ["-D", data, "-U", "kitbag", "-A", "trust", "-E", "UTF8", "--no-sync"];
      execFileSync(join(server.#bin, "initdb"), [...initialise, "--locale=C.UTF-8"], {
        ...server.#owner,
        cwd: server.#base,
        stdio: ["ignore", "ignore", "inherit"],
      });
      server.port = await freePort();
      await server.begin();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  get url() {
    return `postgres://kitbag@127.0.0.1:${this.port}/postgres`;
  }

  /**
   * Starts the server, as after a crash. One whose predecessor was killed ends at once while the
   * predecessor's workers are there, so it is started again until they have gone.
   */
  async begin() {
    const until = Date.now() + 30_000;
    for (;;) {
      const said = await this.#start(until);
      if (said === undefined) return;
      if (Date.now() > until) throw new Error(`PostgreSQL did not start: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Starts a process and waits until it takes connections; what it printed, if it does not. */
  async #start(until) {
    const settings = {
      listen_addresses: "127.0.0.1",
      port: this.port,
      unix_socket_directories: this.#base,
      max_connections: 60,
      fsync: "on",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(join(this.#bin, "postgres"), ["-D", join(this.#base, "data"), ...flags], {
      ...this.#owner,
      cwd: this.#base,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = child;
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said = (said + text).slice(-2000);
    });
    let ended = false;
    child.once("exit", () => {
      ended = true;
    });
    while (!this.#accepts()) {
      if (ended || Date.now() > until) return said;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return undefined;
  }

  /** Whether it takes connections; an open port is not enough after a crash. */
  #accepts() {
    const asked = ["-q", "-h", "127.0.0.1", "-p", String(this.port)];
    return spawnSync(join(this.#bin, "pg_isready"), asked).status === 0;
  }

  /** Ends its main process with no warning at all, and waits until it is gone. */
  async kill() {
    const child = this.#process;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  async stop() {
    const child = this.#process;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      // It waits for clients that are just leaving; after a while it does not.
      child.kill("SIGTERM");
      const hurry = setTimeout(() => child.kill("SIGINT"), 3000);
      await gone;
      clearTimeout(hurry);
    }
    rmSync(this.#base, { recursive: true, force: true });
  }
}
