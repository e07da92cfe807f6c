// Which metrics and log backend the daemon asks: one for all projects.
import type { Config } from '../config/schema/config.ts';

export type BackendName = 'metrics' | 'logs';

export type BackendChoice = { use: true; url: string } | { use: false; why: string; remedy: string };

const keys = { metrics: 'otel.prometheusUrl', logs: 'otel.lokiUrl' } as const;
const variables = { metrics: 'PROMETHEUS_URL', logs: 'LOKI_URL' } as const;
const examples = { metrics: 'http://127.0.0.1:9090', logs: 'http://127.0.0.1:3100' } as const;

/** The first project that has the proxies on and names the backend. */
export function backendOf(name: BackendName, configs: readonly Pick<Config, 'otel'>[]): BackendChoice {
  const enabled = configs.filter(({ otel }) => otel.enabled);
  if (enabled.length === 0) {
    return {
      use: false,
      why: 'otel.enabled is false',
      remedy: 'Run: svc config set otel.enabled true (or set OTEL_ENABLED=true and restart the daemon)',
    };
  }
  const field = name === 'metrics' ? 'prometheusUrl' : 'lokiUrl';
  const url = enabled.map(({ otel }) => otel[field]).find((one) => one !== null);
  if (url !== undefined) return { use: true, url };
  return {
    use: false,
    why: `${keys[name]} is not set`,
    remedy: `Run: svc config set ${keys[name]} ${examples[name]} (or set ${variables[name]} and restart the daemon)`,
  };
}
