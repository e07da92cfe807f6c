// Whether and where spans are sent, from the standard environment variables of OpenTelemetry. Nothing here is a
// setting of ours: whoever has a collector has these variables already.
import type { Environment } from '../config/resolve.ts';
import { readAttributes } from './resource-attributes.ts';

export type TracingSettings =
  | { on: false; why: string; remedy: string }
  | {
      on: true;
      /** Where spans are posted, whole. */
      url: string;
      /** May hold a key: never shown. */
      headers: Record<string, string>;
      timeoutMs: number;
      /** Of all traces, 0 to 1. */
      ratio: number;
      serviceName: string;
      /** `OTEL_RESOURCE_ATTRIBUTES` */
      attributes: Record<string, string>;
    };

const SET_ENDPOINT =
  'Set OTEL_EXPORTER_OTLP_ENDPOINT, for instance to http://127.0.0.1:4318, and restart the daemon';
const TIMEOUT_MS = 10_000;
const LONGEST_TIMEOUT_MS = 60_000;

export function readTracingSettings(environment: Environment): TracingSettings {
  const value = (name: string): string | undefined => environment[name]?.trim() || undefined;
  if (value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true')
    return off('OTEL_SDK_DISABLED is true', 'Unset OTEL_SDK_DISABLED and restart the daemon');
  if (value('OTEL_TRACES_EXPORTER') === 'none')
    return off('OTEL_TRACES_EXPORTER is none', 'Unset OTEL_TRACES_EXPORTER and restart the daemon');
  const own = value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const base = value('OTEL_EXPORTER_OTLP_ENDPOINT');
  const given = own ?? base;
  if (given === undefined) return off('no OTLP endpoint is set', SET_ENDPOINT);
  const protocol = value('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? value('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc') {
    const remedy =
      'Set OTEL_EXPORTER_OTLP_PROTOCOL to http/json and the endpoint to the collector’s HTTP port';
    return off('OTLP over gRPC is not spoken here', remedy);
  }
  if (!/^https?:\/\/[^/]/i.test(given))
    return off('the OTLP endpoint is not an http or https URL', SET_ENDPOINT);
  return {
    on: true,
    url: own ?? `${given.replace(/\/+$/, '')}/v1/traces`,
    headers: {
      ...readAttributes(value('OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
      ...readAttributes(value('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? ''),
    },
    timeoutMs: timeoutFrom(value('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') ?? value('OTEL_EXPORTER_OTLP_TIMEOUT')),
    ratio: ratioFrom(value('OTEL_TRACES_SAMPLER'), value('OTEL_TRACES_SAMPLER_ARG')),
    serviceName: value('OTEL_SERVICE_NAME') ?? 'svc-monitor',
    attributes: readAttributes(value('OTEL_RESOURCE_ATTRIBUTES') ?? ''),
  };
}

function off(why: string, remedy: string): TracingSettings {
  return { on: false, why, remedy };
}

function timeoutFrom(text: string | undefined): number {
  const milliseconds = Number(text ?? TIMEOUT_MS);
  return milliseconds > 0 ? Math.min(milliseconds, LONGEST_TIMEOUT_MS) : TIMEOUT_MS;
}

/** Every trace begins here, so that a sampler which follows its parent decides as its root does. */
function ratioFrom(sampler: string | undefined, argument: string | undefined): number {
  const name = sampler?.replace(/^parentbased_/, '');
  if (name === 'always_off') return 0;
  const ratio = Number(argument ?? 1);
  return name === 'traceidratio' && ratio >= 0 && ratio <= 1 ? ratio : 1;
}
