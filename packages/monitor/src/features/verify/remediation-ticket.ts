// The ticket for a merged commit that failed its verification: what someone has to fix, and why.
import type { Effect } from '../../kernel/outbox/effect.ts';
import type { Finding } from '../findings/findings.ts';
import { type TicketText, titleOf, withKey } from '../findings/findings.ts';

export type RemediationEffect = Extract<Effect, { kind: 'file-remediation' }>;

/** Used in place of a skill name, so that all tickets from verification have the same label. */
export const REMEDIATION_SKILL = 'verification';

const MOST_FINDINGS = 100;

export function remediationTicket(effect: RemediationEffect, key: string): TicketText {
  const { ticket, orchestrator, sha, summary, findings } = effect;
  const more = findings.length - MOST_FINDINGS;
  const parts = [
    summary?.trim() || `The verification of ${ticket} failed after its merge.`,
    findings
      .slice(0, MOST_FINDINGS)
      .map((finding) => `- ${finding.trim().replaceAll('\n', '\n  ')}`)
      .join('\n'),
    more > 0 ? `and ${more} more` : '',
    '---',
    [
      `Ticket: ${ticket}`,
      `Commit: ${sha ?? 'unknown'}`,
      `Run: ${orchestrator}`,
      `Requested by: ${effect.key}`,
    ].join('\n'),
  ];
  return {
    title: titleOf(`Verification of ${ticket} failed`),
    text: withKey(parts.filter((part) => part !== '').join('\n\n'), key),
  };
}

/** The same for the findings queue, where no tracker is set up. */
export function remediationFinding(effect: RemediationEffect, key: string, ts: string): Finding {
  const { title, text } = remediationTicket(effect, key);
  return { ts, skill: REMEDIATION_SKILL, title, body: text, severity: 'high', tags: [effect.ticket] };
}
