// Spans through OpenTelemetry to an OTLP endpoint. Loaded only when one is configured: the packages are optional,
// and loading them takes hundreds of milliseconds. Nothing is registered globally.
import type { SpanContext } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '@svc/core';
import type { Tracer } from './tracer.ts';

export type OtlpTracer = { tracer: Tracer; close: () => Promise<void> };

export type ExportOutcome = { spans: number; why: string | null };

export type OtlpTracerOptions = {
  settings: Extract<TracingSettings, { on: true }>;
  version: string;
  attributes: Readonly<Record<string, string>>;
  onExport: (outcome: ExportOutcome) => void;
  /** How long spans are gathered before they are sent. */
  delayMs?: number;
};

/** Lines whose span is remembered, for what they cause. An effect follows its line within moments. */
const MOST_REMEMBERED = 10_000;
const CLOSE_WITHIN_MS = 3_000;
const FAILED = 2;

export function createOtlpTracer(options: OtlpTracerOptions): OtlpTracer {
  const { settings, version } = options;
  const { url, headers, timeoutMs: timeoutMillis } = settings;
  const exporter = watched(new OTLPTraceExporter({ url, headers, timeoutMillis }), options.onExport);
  const provider = new TracerProvider({
    sampler: new TraceIdRatioBasedSampler(settings.ratio),
    resource: resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.version': version,
      ...options.attributes,
      ...settings.attributes,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: options.delayMs ?? 2_000 })],
  });
  const otel = provider.getTracer('svc', version);
  const bySeq = new Map<number, SpanContext>();

  function remember(seq: number, context: SpanContext): void {
    bySeq.set(seq, context);
    const [oldest] = bySeq.keys();
    if (bySeq.size > MOST_REMEMBERED && oldest !== undefined) bySeq.delete(oldest);
  }

  /** Empty after a restart: then only the attributes tell. */
  function linksTo(seq: number): { context: SpanContext; attributes: { 'svc.seq': number } }[] {
    const context = bySeq.get(seq);
    return context === undefined ? [] : [{ context, attributes: { 'svc.seq': seq } }];
  }

  const tracer: Tracer = {
    startSpan(name, attributes, { at, causedBy } = {}) {
      const span = otel.startSpan(name, {
        attributes,
        ...(at !== undefined && { startTime: at }),
        links: causedBy === undefined ? [] : linksTo(causedBy),
      });
      return {
        recording: span.isRecording(),
        set: (more) => void span.setAttributes(more),
        mark: (moment) => void span.addEvent(moment),
        became: (seq) => remember(seq, span.spanContext()),
        end(outcome, hasFailed = false) {
          span.setAttribute('svc.outcome', outcome);
          if (hasFailed) span.setStatus({ code: FAILED, message: outcome });
          span.end();
        },
      };
    },
  };
  return {
    tracer,
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_WITHIN_MS);
      });
      // What cannot be sent any more was counted by `onExport`.
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

/** The SDK only logs a failed export; here somebody wants to know. */
function watched(exporter: SpanExporter, onExport: (outcome: ExportOutcome) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const code: number = result.code;
        onExport({ spans: spans.length, why: code === 0 ? null : reasonOf(result.error) });
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** Without the answer's body, which may repeat what was sent. */
function reasonOf(error: (Error & { code?: unknown }) | undefined): string {
  const code = typeof error?.code === 'number' || typeof error?.code === 'string' ? ` (${error.code})` : '';
  return `${error?.message.slice(0, 200) || 'the endpoint does not take spans'}${code}`;
}
