// The receipt of a ticket: the proof, and the reasons not to accept it as one.
import type { Board } from '../../kernel/board/board.ts';
import type { Receipt } from '../workers/api.ts';
import { isShipped } from '../workers/status-groups.ts';
import { contradictionsIn } from './inconsistencies.ts';
import { type Link, type LinkName, type Proof, proofOf } from './proof.ts';
import { createLookup, type Subject } from './subject.ts';

/** Uses the current worker if several runs have the ticket. Undefined when the ticket is unknown. */
export function receipt(board: Board, ticket: string, orchestrator?: string): Receipt | undefined {
  const subject = createLookup(board).ofTicket(ticket, orchestrator);
  if (subject === undefined) return undefined;
  const proof = proofOf(board, subject);
  const { links, shipped, missing, next } = proof;
  return {
    ticket: subject.ticket,
    orchestrator: subject.worker?.orchestrator ?? null,
    status: subject.worker?.status ?? 'unknown',
    links,
    shipped,
    missing,
    next,
    flagged: flags(subject, proof),
  };
}

function flags(subject: Subject, { by, links }: Proof): string[] {
  const { worker } = subject;
  if (worker === null) return [];
  const found: string[] = [];
  if (by === 'person') {
    const proof = isProven(links, 'deployment') ? '' : '; no successful deployment was seen';
    found.push(`A person accepted it as done${proof}.`);
  }
  if (isShipped(worker))
    for (const { link, grade } of links)
      if (grade === 'claimed') found.push(`It is done, but only the agent reports its ${linkText[link]}.`);
  const checks = links.find(({ link }) => link === 'checks');
  if (checks?.value?.startsWith('failed') && isProven(links, 'merge'))
    found.push('It was merged with failed checks.');
  const { verification } = worker;
  if (verification?.state === 'failed')
    found.push(`The verification of its merge commit failed: ${verification.summary ?? 'no summary'}`);
  return [...found, ...contradictionsIn(subject)];
}

const linkText: Readonly<Record<LinkName, string>> = {
  ticket: 'ticket',
  'pull-request': 'pull request',
  checks: 'checks',
  merge: 'merge',
  deployment: 'deployment',
};

function isProven(links: readonly Link[], name: LinkName): boolean {
  const { grade } = links.find(({ link }) => link === name) ?? {};
  return grade === 'observed' || grade === 'fetched';
}
