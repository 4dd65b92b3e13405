// Operations and tool calls under the SDK of OpenTelemetry; returns what it exported. It runs in Node
// and in workerd, so it imports nothing of either.

import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import {
  CompositeBackend,
  CustomBackend,
  createFileTools,
  S3Backend,
  SqlBackend,
  withPolicy,
} from "kitbag";
import { openTelemetry, traceTools } from "kitbag/opentelemetry";

/** A storage that answers later, in an order that is not that of the questions. */
function slow() {
  const files = new Map();
  let turn = 0;
  const later = (value) =>
    new Promise((resolve) => {
      turn += 1;
      setTimeout(() => resolve(value), turn % 2 === 0 ? 1 : 4);
    });
  return new CustomBackend({
    get: (path) => later(files.get(path)),
    list: (prefix) => later([...files.keys()].filter((path) => path.startsWith(prefix))),
    put: (path, file) => later(void files.set(path, file)),
    delete: (path) => later(files.delete(path)),
  });
}

/** A bucket whose server is busy at the first request for each object. */
function busyBucket() {
  const refused = new Set();
  globalThis.fetch = async (url) => {
    const { pathname } = new URL(url);
    if (!refused.has(pathname)) {
      refused.add(pathname);
      return new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 });
    }
    if (pathname.includes("none")) return new Response("", { status: 404 });
    return new Response("text", { headers: { etag: '"e"', "content-type": "text/plain" } });
  };
  return new S3Backend({
    endpoint: "http://bucket.test",
    region: "us-east-1",
    bucket: "files",
    credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    retry: { baseMs: 1 },
  });
}

export async function program() {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  trace.setGlobalTracerProvider(provider);
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: measured,
    exportIntervalMillis: 3_600_000,
  });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const tracer = trace.getTracer("test");
  const rules = { readOnlyPrefixes: ["/config"] };
  const files = withPolicy(slow(), { ...rules, ...openTelemetry({ backend: "slow" }) });
  const within = (name, work) =>
    tracer.startActiveSpan(name, async (span) => {
      try {
        return await work();
      } finally {
        span.end();
      }
    });

  await within("agent", async () => {
    await files.write("/a.txt", "four");
    await files.read("/missing.txt");
    await files.write("/config/x", "refused");
    await files.write("/a/../b", "refused");
    await files.uploadFiles(
      Array.from({ length: 40 }, (_, at) => [`/many/${at}`, new Uint8Array([at])]),
    );
    await files.grep("secret pattern", "/");
  });
  // Calls of several spans wait for each other's answers at the same time.
  await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      within(`parallel ${at}`, async () => {
        await files.write(`/p/${at}.txt`, "x".repeat(at));
        await files.read(`/p/${at}.txt`);
      }),
    ),
  );
  const hashed = withPolicy(slow(), openTelemetry({ paths: "hash" }));
  await within("hashed", () => hashed.write("/private/name.txt", ""));
  const silent = withPolicy(slow(), openTelemetry({ paths: "none" }));
  await within("silent", () => silent.write("/private/name.txt", ""));
  const tools = traceTools(createFileTools(files));
  await within("turn", async () => {
    await tools.call("ls", { path: "/" }, { callId: "call_1" });
    await tools.call("read_file", { file_path: "/none.txt" });
    await tools.tools.find(({ name }) => name === "grep").execute({ pattern: "four" });
  });
  const { fetch } = globalThis;
  try {
    const asked = withPolicy(
      new CompositeBackend(busyBucket(), {
        "/db/": new SqlBackend({ dialect: "sqlite", query: async () => [] }),
      }),
      openTelemetry(),
    );
    await within("requests", () =>
      Promise.all([
        asked.readRaw("/a.txt"),
        asked.readRaw("/none.txt"),
        asked.downloadFiles(["/b.txt", "/c.txt"]),
        asked.readRaw("/db/a.txt"),
      ]),
    );
  } finally {
    globalThis.fetch = fetch;
  }
  await provider.forceFlush();
  // A hash is computed after the call.
  while (exporter.getFinishedSpans().filter((span) => span.name === "kitbag write").length < 13) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await reader.forceFlush();
  const ids = new Map(
    exporter.getFinishedSpans().map((span) => [span.spanContext().spanId, span.name]),
  );
  const told = {
    spans: exporter.getFinishedSpans().map((span) => ({
      name: span.name,
      parent: ids.get(span.parentSpanContext?.spanId) ?? null,
      status: span.status.code,
      ms: span.duration[0] * 1000 + span.duration[1] / 1e6,
      age: Date.now() - (span.startTime[0] * 1000 + span.startTime[1] / 1e6),
      attributes: span.attributes,
    })),
    metrics: measured
      .getMetrics()
      .at(-1)
      .scopeMetrics.flatMap((scope) => scope.metrics)
      .map(({ descriptor, dataPoints }) => ({
        name: descriptor.name,
        unit: descriptor.unit,
        points: dataPoints.map(({ attributes, value }) => ({
          attributes,
          count: value.count ?? value,
        })),
      })),
  };
  await Promise.all([reader.shutdown(), provider.shutdown()]);
  return told;
}
