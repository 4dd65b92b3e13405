// Signs requests with Node's own digests: for what tests must do beside the backend, and as a
// second opinion on its signatures.

import { createHash, createHmac } from "node:crypto";

const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const hmac = (key, data) => createHmac("sha256", key).update(data).digest();

/** Sends a request with a signature in its headers. */
export function signed(keys, { method, url, body = "", headers = {} }) {
  const at = new URL(url);
  const date = `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
  const all = {
    ...headers,
    "content-md5": createHash("md5").update(body).digest("base64"),
    host: at.host,
    "x-amz-content-sha256": sha256(body),
    "x-amz-date": date,
  };
  const names = Object.keys(all).sort();
  const query = [...at.searchParams]
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .sort()
    .join("&");
  const canonical = [
    method,
    at.pathname,
    query,
    ...names.map((name) => `${name}:${all[name]}`),
    "",
    names.join(";"),
    all["x-amz-content-sha256"],
  ].join("\n");
  const scope = [date.slice(0, 8), "us-east-1", "s3", "aws4_request"];
  const text = ["AWS4-HMAC-SHA256", date, scope.join("/"), sha256(canonical)].join("\n");
  const key = scope.reduce(hmac, `AWS4${keys.secretAccessKey}`);
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const credential = `${keys.accessKeyId}/${scope.join("/")}`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${names.join(";")},Signature=${signature}`;
  const { host: _, ...sent } = all;
  return fetch(url, {
    method,
    headers: { ...sent, authorization },
    ...(body === "" ? {} : { body }),
  });
}
