// Real S3 servers on loopback: Ceph's object gateway with its data in memory, and moto. Both run
// in the foreground as children of the suite, so that they end with it, whatever happens.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { end, must, start } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { signed } from "./sign.mjs";

export const KEYS = {
  accessKeyId: "KITBAGTESTKEY0000001",
  secretAccessKey: "kitbagtestsecretkitbagtestsecretkitbagte",
};

const FSID = "11111111-2222-3333-4444-555555555555";

/** So many free ports. */
export async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Waits for a server to answer anything at all. */
async function answering(url, child, what) {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) throw new Error(`${what} ended with code ${child.exitCode}`);
    try {
      await fetch(url, { signal: AbortSignal.timeout(2000) });
      return;
    } catch {
      await pause(100);
    }
  }
  throw new Error(`${what} does not answer`);
}

function cephConfig(home, port, mon, legacy) {
  return `[global]
fsid = ${FSID}
mon initial members = a
mon host = [v2:127.0.0.1:${mon},v1:127.0.0.1:${legacy}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
auth allow insecure global id reclaim = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
rgw rados pool pg num min = 4
mon allow pool size one = true
# One monitor need not gather changes for a second, and so again for each pool.
paxos propose interval = 0.05
paxos min wait = 0.01
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 2147483648
mon data = ${home}/mon
osd data = ${home}/osd
run dir = ${home}/run
admin socket = ${home}/run/$name.$pid.asok
pid file = ${home}/run/$name.pid
log file = ${home}/log/$name.log
keyring = ${home}/keyring
[client.rgw.a]
rgw data = ${home}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port} tcp_nodelay=1
rgw enable usage log = false
rgw run sync thread = false
rgw enable gc threads = false
rgw enable lc threads = false
rgw gc max objs = 2
rgw lc max objs = 2
rgw reshard num logs = 2
rgw objexp hints num shards = 2
rgw usage max shards = 2
rgw data log num shards = 2
rgw md log max shards = 2
rgw dynamic resharding = false
rgw override bucket index max shards = 1
`;
}

/** One node of Ceph with its object gateway: `{ endpoint, stop }`. */
export async function startCeph() {
  const [port, mon, legacy] = await freePorts(3);
  // Sockets of Ceph need a short path.
  const home = mkdtempSync(join(tmpdir(), "kb-ceph-"));
  for (const part of ["mon", "osd", "rgw", "run", "log"]) mkdirSync(join(home, part));
  const config = join(home, "ceph.conf");
  writeFileSync(config, cephConfig(home, port, mon, legacy));
  const keyring = join(home, "keyring");
  const all = ["mon", "osd", "mgr"].flatMap((cap) => ["--cap", cap, "allow *"]);
  const key = (name, caps) => must("ceph-authtool", [keyring, "--gen-key", "-n", name, ...caps]);
  await must("ceph-authtool", ["--create-keyring", keyring]);
  await key("mon.", ["--cap", "mon", "allow *"]);
  for (const name of ["client.admin", "osd.0", "client.rgw.a"]) await key(name, all);
  const map = join(home, "monmap");
  const addresses = `[v2:127.0.0.1:${mon},v1:127.0.0.1:${legacy}]`;
  await must("monmaptool", ["--create", "--fsid", FSID, "--addv", "a", addresses, map]);
  const with_ = (...args) => ["-c", config, ...args];
  await must("ceph-mon", with_("-i", "a", "--mkfs", "--monmap", map, "--keyring", keyring));
  const children = [];
  const daemon = (command, ...args) => {
    const child = start(command, with_("-f", ...args), { stdio: "ignore" });
    children.push(child);
    return child;
  };
  const stop = async () => {
    const gone = children.map((child) => new Promise((resolve) => child.once("close", resolve)));
    for (const child of children) end(child);
    await Promise.all(gone);
    rmSync(home, { recursive: true, force: true });
  };
  try {
    daemon("ceph-mon", "-i", "a");
    const uuid = "22222222-2222-3333-4444-555555555555";
    await must("ceph", with_("--connect-timeout", "60", "osd", "new", uuid));
    await must("ceph-osd", with_("-i", "0", "--mkfs", "--osd-uuid", uuid));
    daemon("ceph-osd", "-i", "0");
    const gateway = daemon("radosgw", "-n", "client.rgw.a");
    const endpoint = `http://127.0.0.1:${port}`;
    await answering(endpoint, gateway, "Ceph's object gateway");
    const user = ["user", "create", "--uid=kitbag", "--display-name=kitbag"];
    const keys = [`--access-key=${KEYS.accessKeyId}`, `--secret=${KEYS.secretAccessKey}`];
    await must("radosgw-admin", with_("-n", "client.rgw.a", ...user, ...keys));
    return { name: "ceph", endpoint, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** moto: `{ endpoint, stop }`. */
export async function startMoto() {
  const [port] = await freePorts(1);
  const python = join(dirname(process.env.KITBAG_MOTO), "python");
  const child = start(python, [at("tests/s3/moto_in_turn.py"), String(port)], { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  await answering(endpoint, child, "moto");
  const stop = () => {
    const gone = new Promise((resolve) => child.once("close", resolve));
    end(child);
    return gone;
  };
  return { name: "moto", endpoint, stop };
}

/** Makes a bucket. */
export async function makeBucket(endpoint, bucket) {
  const response = await signed(KEYS, { method: "PUT", url: `${endpoint}/${bucket}` });
  if (!response.ok) throw new Error(`no bucket: ${response.status} ${await response.text()}`);
}

/** Lets pages of any origin use a bucket. */
export async function allowPages(endpoint, bucket, origin) {
  const methods = ["GET", "HEAD", "PUT", "POST", "DELETE"];
  const exposed = ["ETag", "Last-Modified", "Content-Range", "Retry-After", "x-amz-meta-kitbag"];
  const body = `<CORSConfiguration><CORSRule><AllowedOrigin>${origin}</AllowedOrigin>${methods
    .map((method) => `<AllowedMethod>${method}</AllowedMethod>`)
    .join("")}<AllowedHeader>*</AllowedHeader>${exposed
    .map((header) => `<ExposeHeader>${header}</ExposeHeader>`)
    .join("")}<MaxAgeSeconds>300</MaxAgeSeconds></CORSRule></CORSConfiguration>`;
  const response = await signed(KEYS, { method: "PUT", url: `${endpoint}/${bucket}?cors=`, body });
  if (!response.ok) throw new Error(`no CORS: ${response.status} ${await response.text()}`);
  // moto lets a preflight for an existing key through only where the bucket's policy says so.
  const policy = JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Principal: "*", Action: "s3:*", Resource: `arn:aws:s3:::${bucket}/*` },
    ],
  });
  const url = `${endpoint}/${bucket}?policy=`;
  const allowed = await signed(KEYS, { method: "PUT", url, body: policy });
  if (!allowed.ok) throw new Error(`no policy: ${allowed.status} ${await allowed.text()}`);
}
