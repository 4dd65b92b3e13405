// `kitbag/opentelemetry`: the operations of a backend and the calls of tools as spans and metrics,
// through `@opentelemetry/api`. Nothing is sent unless the program has set up an SDK.

import {
  type Attributes,
  type Context,
  context,
  type HrTime,
  type Meter,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { AuditRecord, FileTools, ToolCall, ToolResult } from "kitbag";
import { onlyKnown } from "../core/nearest.js";

/** Options of `openTelemetry` and `traceTools`. */
export interface OpenTelemetryOptions {
  /** Name of the backend in spans and metrics (`kitbag.backend`). Default: none. */
  backend?: string;
  /**
   * What spans tell of paths: all of them (`"full"`, the default), a SHA-256 hash of each
   * (`"hash"`), or nothing (`"none"`). Metrics never have paths.
   */
  paths?: "full" | "hash" | "none";
  /** Default: the global one, by the name `kitbag`. */
  tracer?: Tracer;
  /** Default: the global one, by the name `kitbag`. */
  meter?: Meter;
}

/** The part of a policy that `openTelemetry` returns. */
type OpenTelemetryPolicy = {
  /** Makes a span and counts. */
  audit: (record: AuditRecord) => void;
};

const PATHS = ["full", "hash", "none"] as const;

interface Settings {
  backend: Attributes;
  paths: (typeof PATHS)[number];
  tracer: Tracer;
  meter: Meter;
}

function settings(of: string, options: OpenTelemetryOptions = {}): Settings {
  onlyKnown(of, options, ["backend", "paths", "tracer", "meter"]);
  const { backend, paths = "full", tracer, meter } = options;
  const refuse = (name: string, expected: string): never => {
    throw new TypeError(`${of}: option "${name}" must be ${expected}`);
  };
  if (backend !== undefined && typeof backend !== "string") refuse("backend", "a string");
  if (!PATHS.includes(paths)) refuse("paths", '"full", "hash" or "none"');
  if (tracer !== undefined && typeof tracer?.startSpan !== "function") {
    refuse("tracer", "a tracer of @opentelemetry/api");
  }
  if (meter !== undefined && typeof meter?.createHistogram !== "function") {
    refuse("meter", "a meter of @opentelemetry/api");
  }
  return {
    backend: backend === undefined ? {} : { "kitbag.backend": backend },
    paths,
    tracer: tracer ?? trace.getTracer("kitbag"),
    meter: meter ?? metrics.getMeter("kitbag"),
  };
}

/** Most paths of a batch that a span names. */
const SPAN_PATHS = 32;

async function hashed(path: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(path));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What a span says about paths. */
async function pathsOf(record: AuditRecord, how: Settings["paths"]): Promise<Attributes> {
  const shown: Attributes = record.paths ? { "kitbag.files": record.paths.length } : {};
  if (how === "none" || record.path === "") return shown;
  if (how === "full") {
    shown["file.path"] = record.path;
    if (record.paths) shown["kitbag.paths"] = record.paths.slice(0, SPAN_PATHS);
  } else {
    shown["kitbag.path.hash"] = await hashed(record.path);
  }
  return shown;
}

/** A time in milliseconds as OpenTelemetry takes it without guessing the unit. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/**
 * Rules for `withPolicy` that make a span and metrics of each operation, also of a refused one.
 * A span is a child of the one that was active when the operation was called.
 *
 * @example
 * const files = withPolicy(backend, { ...rules, ...openTelemetry({ backend: "s3" }) });
 */
export function openTelemetry(options?: OpenTelemetryOptions): OpenTelemetryPolicy {
  const { backend, paths, tracer, meter } = settings("openTelemetry", options);
  const duration = meter.createHistogram("kitbag.operation.duration", {
    unit: "s",
    description: "Duration of operations on files",
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  const bytes = meter.createCounter("kitbag.operation.io", {
    unit: "By",
    description: "Bytes of content that operations read or wrote",
  });
  const span = async (record: AuditRecord, attributes: Attributes, parent: Context) => {
    const start = Date.parse(record.time);
    const about = await pathsOf(record, paths);
    for (const name of ["requests", "retries"] as const) {
      const count = record[name];
      if (count !== undefined) about[`kitbag.${name}`] = count;
    }
    const made = tracer.startSpan(
      `kitbag ${record.operation}`,
      {
        kind: SpanKind.INTERNAL,
        startTime: hrTime(start),
        attributes: { ...attributes, ...about, "kitbag.bytes": record.bytes },
      },
      parent,
    );
    if (record.code !== "ok") made.setStatus({ code: SpanStatusCode.ERROR, message: record.code });
    made.end(hrTime(start + record.durationMs));
  };
  return {
    audit: (record) => {
      const attributes: Attributes = { ...backend, "kitbag.operation": record.operation };
      if (record.code !== "ok") attributes["error.type"] = record.code;
      if (record.rule !== undefined) attributes["kitbag.rule"] = record.rule;
      const parent = context.active();
      duration.record(record.durationMs / 1000, attributes, parent);
      bytes.add(record.bytes, attributes, parent);
      // A failed hash or exporter must not become an unhandled rejection of the program.
      span(record, { ...attributes, "kitbag.code": record.code }, parent).catch(() => {});
    },
  };
}

/** Upper limits of the histograms' buckets, in seconds. */
const BUCKETS = [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

/**
 * The same tools with a span and a duration for each call, by OpenTelemetry's conventions for
 * generative AI (`execute_tool`). The span is active during the call, so that spans of operations
 * and of requests are its children. Arguments and results are not recorded.
 *
 * @example
 * const files = traceTools(createFileTools(withPolicy(backend, openTelemetry())));
 */
export function traceTools(tools: FileTools, options?: OpenTelemetryOptions): FileTools {
  const { backend, tracer, meter } = settings("traceTools", options);
  const duration = meter.createHistogram("gen_ai.execute_tool.duration", {
    unit: "s",
    description: "Duration of tool executions",
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  const traced = <T>(
    name: string,
    call: ToolCall | undefined,
    run: () => Promise<T>,
    failed: (answer: T) => boolean,
  ): Promise<T> => {
    const attributes: Attributes = {
      ...backend,
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": "function",
    };
    const began = performance.now();
    const ended = (span: Span, error?: string) => {
      if (error !== undefined) {
        attributes["error.type"] = error;
        span.setAttribute("error.type", error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      duration.record((performance.now() - began) / 1000, attributes);
      span.end();
    };
    const id = call?.callId === undefined ? {} : { "gen_ai.tool.call.id": call.callId };
    const about = { kind: SpanKind.INTERNAL, attributes: { ...attributes, ...id } };
    return tracer.startActiveSpan(`execute_tool ${name}`, about, async (span) => {
      try {
        const answer = await run();
        ended(span, failed(answer) ? "tool_error" : undefined);
        return answer;
      } catch (error) {
        ended(span, error instanceof Error ? error.name : "_OTHER");
        throw error;
      }
    });
  };
  return {
    ...tools,
    tools: tools.tools.map((tool) => ({
      ...tool,
      execute: (input, call) =>
        traced(
          tool.name,
          call,
          () => tool.execute(input, call),
          (answer) => typeof answer === "string" && answer.startsWith("Error"),
        ),
    })),
    call: (name, input, call) =>
      traced<ToolResult>(
        name,
        call,
        () => tools.call(name, input, call),
        (answer) => answer.isError,
      ),
  };
}
