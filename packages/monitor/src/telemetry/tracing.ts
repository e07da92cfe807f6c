// Tracing, if the standard environment variables ask for it: loads OpenTelemetry then and only then. Without the
// packages, or with settings that cannot be used, the daemon runs untraced and says why.
import type { TracingSettings } from '@svc/core';
import { messageOf } from '../log/log-errors.ts';
import { shownAddress } from './backend-call.ts';
import type { ExportOutcome, OtlpTracer, OtlpTracerOptions } from './otlp-tracer.ts';
import { noTracer, type Tracer } from './tracer.ts';

type TracingState = {
  state: 'disabled' | 'connecting' | 'live' | 'degraded';
  why: string | null;
  remedy: string | null;
  url: string | null;
  /** Spans since the start. */
  sent: number;
  lost: number;
};

export type Tracing = { tracer: Tracer; state: () => TracingState; close: () => Promise<void> };

type LoadedSdk = { createOtlpTracer: (options: OtlpTracerOptions) => OtlpTracer };

const INSTALL =
  'Run: npm install --include=optional @opentelemetry/api @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-http, and restart the daemon';
const CHECK = 'Check the OTLP endpoint and its headers; spans are sent again by themselves';

export async function openTracing(options: {
  settings: TracingSettings;
  version: string;
  attributes: Readonly<Record<string, string>>;
  load?: () => Promise<LoadedSdk>;
  delayMs?: number;
}): Promise<Tracing> {
  const { settings, version, attributes, load = () => import('./otlp-tracer.ts') } = options;
  if (!settings.on) return off(settings.why, settings.remedy);
  let sent = 0;
  let lost = 0;
  let why: string | null = null;
  const onExport = (outcome: ExportOutcome): void => {
    why = outcome.why;
    if (why === null) sent += outcome.spans;
    else lost += outcome.spans;
  };
  const delay = options.delayMs === undefined ? {} : { delayMs: options.delayMs };
  let opened: OtlpTracer;
  try {
    opened = (await load()).createOtlpTracer({ settings, version, attributes, onExport, ...delay });
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (isMissing) return off('the OpenTelemetry packages are not installed', INSTALL);
    return off(`OpenTelemetry could not be started: ${messageOf(error)}`, CHECK);
  }
  return {
    tracer: opened.tracer,
    close: opened.close,
    state: () => ({
      state: why !== null ? 'degraded' : sent > 0 ? 'live' : 'connecting',
      why,
      remedy: why === null ? null : CHECK,
      url: shownAddress(settings.url),
      sent,
      lost,
    }),
  };
}

function off(why: string, remedy: string): Tracing {
  const state = { state: 'disabled', why, remedy, url: null, sent: 0, lost: 0 } as const;
  return { tracer: noTracer, state: () => state, close: () => Promise.resolve() };
}
