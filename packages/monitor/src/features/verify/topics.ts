// The detail of events about the verification of merges.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { verifierVerdicts } from '../agents/schemas.ts';

const VerificationDetail = Detail.extend({
  summary: text,
  findings: z.array(z.string()).optional(),
  advisory: z.boolean().optional().describe('true when a failure does not block the wave'),
  blocking: count.describe('how many findings block it'),
  testCommand: text,
  exitCode: z.int().optional().describe('the exit code of the test command'),
  durationMs: count,
  logPath: text.describe('the file with the complete output'),
  verifier: z
    .object({ agent: z.string(), verdict: z.enum(verifierVerdicts), reason: text })
    .optional()
    .describe('what the agent in svc.orchestration.verifier found; only done means done'),
  url: text,
});

/** What was filed about a failed verification, which then no longer blocks. */
const RemediationDetail = Detail.extend({
  destination: z.enum(['tracker', 'finding']),
  filedAs: text.describe('ticket id'),
  url: text,
});

export const verifyTopics = {
  ...topicFamily('orchestrator.verification', ['started', 'passed', 'failed'], VerificationDetail),
  ...topicFamily('orchestrator.verification', ['remediation_filed'], RemediationDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof verifyTopics> {}
}
