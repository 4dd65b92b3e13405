// A `fetch` that answers for a bucket in memory, as far as these tests need S3.

const keyOf = (url) => decodeURIComponent(url.pathname.slice("/bucket/".length));

/** Requests to `endpoint` are answered here, others by `other`. */
export function s3Fetch(endpoint, other) {
  const objects = new Map();
  let versions = 0;
  return async (input, init = {}) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.origin !== endpoint) return other(input, init);
    const key = keyOf(url);
    if (request.method === "PUT") {
      const etag = `"${++versions}"`;
      objects.set(key, { body: await request.arrayBuffer(), etag });
      return new Response(null, { headers: { etag } });
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return new Response(null, { status: 204 });
    }
    if (url.searchParams.has("list-type")) return listing(objects, url.searchParams);
    const found = objects.get(key);
    if (!found) return new Response(null, { status: 404 });
    const headers = { etag: found.etag, "content-length": `${found.body.byteLength}` };
    return new Response(request.method === "HEAD" ? null : found.body, { headers });
  };
}

function listing(objects, query) {
  const prefix = query.get("prefix") ?? "";
  const rows = [...objects]
    .filter(([key]) => key.startsWith(prefix))
    .map(
      ([key, { body, etag }]) =>
        `<Contents><Key>${key}</Key><Size>${body.byteLength}</Size><ETag>${etag}</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`,
    );
  return new Response(
    `<ListBucketResult><IsTruncated>false</IsTruncated>${rows.join("")}</ListBucketResult>`,
  );
}
