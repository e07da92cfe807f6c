// The tracker's quota of requests: counted down by every answer, told in its headers.

export type Quota = { limit: number; remaining: number; resetAt: number };

export function quotaHeaders({ limit, remaining, resetAt }: Quota): Record<string, string> {
  return {
    'X-RateLimit-Requests-Limit': String(limit),
    'X-RateLimit-Requests-Remaining': String(remaining),
    'X-RateLimit-Requests-Reset': String(resetAt),
  };
}
