// The result of a verification: stored beside its log, reported in the event log and written into the worker's signal
// file.

import type { SignalFile } from '@svc/contract/signal-file';
import { z } from 'zod';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { DetailOf } from '../../../kernel/log/topics.ts';
import { diffScopes } from '../file-kind.ts';
import { VerifierResult } from '../refutation.ts';
import { findingKinds, findingText, shownText } from '../verdict.ts';

const LOGGED_FINDINGS = 40;
const SIGNAL_FINDINGS = 8;
const LONGEST_FINDING = 300;

const Finding = z.object({
  kind: z.enum(findingKinds),
  severity: z.enum(['blocking', 'advisory']),
  why: z.string(),
  path: z.string().exactOptional(),
  line: z.int().nonnegative().exactOptional(),
  text: z.string().exactOptional(),
});

export const VerificationResult = z.object({
  version: z.literal(1),
  orchestrator: z.string(),
  ticket: z.string(),
  /** The commit that it was compared with. */
  base: z.string(),
  scope: z.enum(diffScopes),
  passed: z.boolean(),
  summary: z.string(),
  findings: z.array(Finding),
  blocking: z.int().nonnegative(),
  types: z.array(
    z.object({
      type: z.string(),
      state: z.enum(['in-diff', 'nearby', 'missing', 'unknown']),
      examples: z.array(z.string()),
    }),
  ),
  evidence: z.object({
    sha: z.string(),
    logPath: z.string(),
    testCommand: z.string().nullable(),
    exitCode: z.int().nullable(),
    durationMs: z.int().nonnegative(),
  }),
  verifier: VerifierResult.exactOptional(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
});
export type VerificationResult = z.infer<typeof VerificationResult>;

/** A file that is not a result of this commit is ignored: the result is computed again and replaced. */
export async function readResult(
  file: string,
  { orchestrator, ticket, sha }: { orchestrator: string; ticket: string; sha: string },
): Promise<VerificationResult | undefined> {
  const read = await readJsonFile(file);
  const parsed = read.state === 'read' ? VerificationResult.safeParse(read.data) : undefined;
  if (!parsed?.success) return undefined;
  const { data } = parsed;
  const isOurs = data.orchestrator === orchestrator && data.ticket === ticket && data.evidence.sha === sha;
  return isOurs ? data : undefined;
}

export function writeResult(file: string, result: VerificationResult): Promise<void> {
  return writeFileAtomically(file, `${JSON.stringify(result, null, 2)}\n`, {
    mode: 0o600,
    folderMode: 0o700,
  });
}

export type VerifiedWorker = {
  orchestrator: string;
  ticket: string;
  sha: string;
  repo?: string | undefined;
  pr?: number | undefined;
};

export function startedDraft(worker: VerifiedWorker, summary: string): EventDraft {
  return draftOf(worker, 'started', { summary });
}

/** `advisory`: a failure does not hold the wave. */
export function resultDraft(
  worker: VerifiedWorker,
  result: VerificationResult,
  { advisory }: { advisory: boolean },
): EventDraft {
  const { passed, summary, blocking, evidence } = result;
  return {
    ...draftOf(worker, passed ? 'passed' : 'failed', {
      summary,
      findings: findingTexts(result, LOGGED_FINDINGS),
      blocking,
      ...(!passed && { advisory }),
      ...evidenceFields(evidence),
      ...verifierField(result),
    }),
    occurredAt: result.finishedAt,
  };
}

function draftOf(
  worker: VerifiedWorker,
  what: 'started' | 'passed' | 'failed',
  detail: DetailOf<'orchestrator.verification.passed'>,
): EventDraft {
  const { orchestrator, ticket, sha, repo, pr } = worker;
  return {
    event: `orchestrator.verification.${what}`,
    source: 'orchestrator',
    via: 'local',
    // One start and one end for each commit, however often they are reported.
    deliveryId: `verification:${orchestrator}:${ticket}:${sha}:${what === 'started' ? 'started' : 'ended'}`,
    scope: {
      orchestrator,
      ticket,
      mergeSha: sha,
      ...(repo !== undefined && { repo }),
      ...(pr !== undefined && { pr }),
    },
    detail,
  };
}

export function signalBlock(
  result: VerificationResult,
  { advisory }: { advisory: boolean },
): NonNullable<SignalFile['verification']> {
  const { passed, summary, blocking, evidence } = result;
  return {
    status: passed ? 'passed' : 'failed',
    sha: evidence.sha,
    summary,
    findings: findingTexts(result, SIGNAL_FINDINGS),
    blocking,
    ...(!passed && { advisory }),
    ...evidenceFields(evidence),
    ...verifierField(result),
    completedAt: result.finishedAt,
  };
}

function evidenceFields({ logPath, testCommand, exitCode, durationMs }: VerificationResult['evidence']) {
  return {
    logPath,
    ...(testCommand !== null && { testCommand }),
    ...(exitCode !== null && { exitCode }),
    durationMs,
  };
}

function verifierField({ verifier }: VerificationResult) {
  if (verifier === undefined) return {};
  const { agent, verdict, reason } = verifier;
  return { verifier: { agent, verdict, ...(reason !== null && { reason: shownText(reason) }) } };
}

function findingTexts({ findings }: VerificationResult, most: number): string[] {
  const texts = findings.slice(0, most).map((finding) => findingText(finding).slice(0, LONGEST_FINDING));
  return findings.length > most ? [...texts, `… and ${findings.length - most} more`] : texts;
}
