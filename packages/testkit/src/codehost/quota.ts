// The hourly quotas, one for REST and one for GraphQL: counted down by every call, told in every answer.
import type { Answer } from './answer.ts';

export type QuotaName = 'core' | 'graphql';
export type Quota = { limit: number; remaining: number; resetAt: number };

const HOUR_MS = 3_600_000;
const LIMIT = 5_000;

export function createQuotas(now: () => number) {
  const fresh = (): Quota => ({ limit: LIMIT, remaining: LIMIT, resetAt: now() + HOUR_MS });
  const quotas: Record<QuotaName, Quota> = { core: fresh(), graphql: fresh() };

  const current = (name: QuotaName): Quota => {
    if (now() >= quotas[name].resetAt) quotas[name] = { ...fresh(), limit: quotas[name].limit };
    return quotas[name];
  };

  return {
    set: (name: QuotaName, change: Partial<Quota>): void => void Object.assign(current(name), change),
    /** False when nothing is left. */
    take(name: QuotaName): boolean {
      const quota = current(name);
      if (quota.remaining <= 0) return false;
      quota.remaining -= 1;
      return true;
    },
    headers(name: QuotaName): Record<string, string> {
      const { limit, remaining, resetAt } = current(name);
      return {
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': String(remaining),
        'X-RateLimit-Used': String(limit - remaining),
        'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)),
        'X-RateLimit-Resource': name,
      };
    },
    /** `GET /rate_limit`, which costs nothing. */
    report(): Answer {
      const view = (name: QuotaName) => {
        const { limit, remaining, resetAt } = current(name);
        return {
          limit,
          remaining,
          used: limit - remaining,
          reset: Math.ceil(resetAt / 1000),
          resource: name,
        };
      };
      return {
        status: 200,
        body: { resources: { core: view('core'), graphql: view('graphql') }, rate: view('core') },
      };
    },
  };
}
