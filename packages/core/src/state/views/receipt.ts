// Did it ship? The chain from the ticket to the deployment, each link with how it is known: observed by a
// delivery, fetched by asking, or only claimed by the signal file.
import type { Board } from '../board-shape.ts';
import { contradictionsIn } from './doubts.ts';
import {
  checksLink,
  deploymentLink,
  type Grade,
  type Link,
  type LinkName,
  mergeLink,
  pullRequestLink,
  ticketLink,
} from './receipt-links.ts';
import { createLookup, type Subject } from './subject.ts';

export type Receipt = {
  ticket: string;
  orchestrator: string | null;
  status: string;
  links: Link[];
  /** Null: nobody can tell. */
  shipped: boolean | null;
  /** What a reader should know before taking the answer for proof. */
  flagged: string[];
};

/** By name; the newest worker's when several runs have one. Undefined when nobody knows the ticket. */
export function receipt(board: Board, ticket: string, orchestrator?: string): Receipt | undefined {
  const subject = createLookup(board).ofTicket(ticket, orchestrator);
  if (subject === undefined) return undefined;
  const links = [ticketLink, pullRequestLink, checksLink, mergeLink, deploymentLink].map((link) =>
    link(subject),
  );
  return {
    ticket: subject.ticket,
    orchestrator: subject.worker?.orchestrator ?? null,
    status: subject.worker?.status ?? 'unknown',
    links,
    shipped: isShipped(board, subject, links),
    flagged: flags(subject, links),
  };
}

function isShipped(board: Board, subject: Subject, links: readonly Link[]): boolean | null {
  const { worker, pullRequest } = subject;
  if (isAccepted(subject)) return true;
  const deployed = gradeIn(links, 'deployment');
  if (isProven(gradeIn(links, 'merge')) && (isProven(deployed) || deployed === 'not-required')) return true;
  const isBlind = [...board.feeds.values()].some(({ grade }) => grade === 'blind');
  if (isBlind) return null;
  if (worker !== null) return false;
  // Without a worker nobody said how a merge of it is proven.
  return pullRequest !== null && pullRequest.state !== 'merged' ? false : null;
}

function flags(subject: Subject, links: readonly Link[]): string[] {
  const { worker } = subject;
  if (worker === null) return [];
  const found: string[] = [];
  const deployed = gradeIn(links, 'deployment');
  const isDone = worker.status === 'done';
  if (isAccepted(subject)) {
    const proof = isProven(deployed) ? '' : ': no deployment was seen to succeed';
    found.push(`It is done by a person's word${proof}.`);
  }
  if (isDone)
    for (const { link, grade } of links)
      if (grade === 'claimed')
        found.push(`It is done, but only the signal file tells of its ${words[link]}.`);
  const checks = links.find(({ link }) => link === 'checks');
  if (checks?.value?.startsWith('failed') && isProven(gradeIn(links, 'merge')))
    found.push('It was merged with failed checks.');
  return [...found, ...contradictionsIn(subject)];
}

const words: Readonly<Record<LinkName, string>> = {
  ticket: 'ticket',
  'pull-request': 'pull request',
  checks: 'checks',
  merge: 'merge',
  deployment: 'deployment',
};

function isAccepted({ worker }: Subject): boolean {
  return worker?.status === 'done' && worker.deploy?.result === 'accepted';
}

function isProven(grade: Grade): boolean {
  return grade === 'observed' || grade === 'fetched';
}

function gradeIn(links: readonly Link[], name: LinkName): Grade {
  return links.find(({ link }) => link === name)?.grade ?? 'missing';
}
