// Which repositories require a verified deployment, since when and by what.
import { z } from 'zod';
import { apiRoute, by, Seq, Time, text } from '../../kernel/http/api-route.ts';

const Repo = text(140).regex(/^[^/\s]+\/[^/\s]+$/, 'expected owner/repo');

export type PolicyView = z.infer<typeof PolicyView>;
const PolicyView = z
  .object({
    repo: z.string(),
    verification: z
      .enum(['required', 'skipped', 'unknown'])
      .describe('unknown: a configuration cannot be read, so merges wait'),
    environment: z.string(),
    timeoutSec: z.int(),
    acceptDescendants: z.boolean(),
    since: Time.nullable(),
    why: z.string(),
    requiredBy: z.array(
      z.object({
        project: z.string(),
        at: Time,
        seq: Seq,
        now: z.boolean().describe('Its file says so right now'),
      }),
    ),
    relaxed: z.object({ by: z.string(), at: Time, seq: Seq }).nullable().describe('The last relaxation'),
  })
  .meta({ id: 'PolicyView' });

export const policyRoutes = {
  getDeployPolicy: apiRoute({
    method: 'GET',
    path: '/api/deploy/policy',
    tag: 'workers',
    summary: 'Show which repositories require a verified deployment, since when and by what',
    verbs: ['svc deploy policy'],
    query: z.strictObject({ repo: Repo.optional().describe('only this repository') }),
    answer: z.object({ policies: z.array(PolicyView) }),
    failures: ['usage', 'state-not-ready'],
  }),
  relaxDeployPolicy: apiRoute({
    method: 'POST',
    path: '/api/deploy/policy/relax',
    tag: 'workers',
    summary: 'Stop requiring a verified deployment of a repository whose project no longer states it',
    description:
      'It holds for later merges only. A requirement in the file of a served project is changed there.',
    verbs: ['svc deploy policy relax'],
    body: z.strictObject({ repo: Repo, by, note: text(2_000).optional() }),
    answer: z.object({ ok: z.literal(true), policy: PolicyView }),
    failures: ['usage', 'not-allowed-now', 'state-not-ready', 'log-not-writable'],
  }),
};
