// The ship receipt in words: one sentence, each link, and the whole as text that can be copied.
import type { Receipt } from '@svc/core';
import type { Meaning } from '../../parts/meaning.ts';

type Link = Receipt['links'][number];

export const linkNames: Record<Link['link'], string> = {
  ticket: 'Ticket',
  'pull-request': 'Pull request',
  checks: 'Checks',
  merge: 'Merge',
  deployment: 'Deployment',
};

export function shippedWords({ shipped, ticket, flagged }: Receipt): { meaning: Meaning; words: string } {
  if (shipped === null) return { meaning: 'unknown', words: `Whether ${ticket} shipped, nobody can tell.` };
  if (!shipped) return { meaning: 'unknown', words: `${ticket} has not shipped.` };
  return flagged.some((text) => text.startsWith("It is done by a person's word"))
    ? { meaning: 'unknown', words: `${ticket} counts as shipped by a person’s word.` }
    : { meaning: 'proven', words: `${ticket} shipped.` };
}

/** Green only for what was observed or fetched, and only when that was good. */
export function linkMeaning({ link, grade, value }: Pick<Link, 'link' | 'grade' | 'value'>): Meaning {
  if (grade !== 'observed' && grade !== 'fetched') return 'unknown';
  if (link === 'checks' && value?.startsWith('failed') === true) return 'broken';
  if (link === 'checks' && value?.startsWith('running') === true) return 'motion';
  return 'proven';
}

/** What stands for a link of which there is no value. */
export function linkValue({ link, grade, value }: Link): string {
  if (value !== null) return link === 'merge' && /^[0-9a-f]{40}$/.test(value) ? value.slice(0, 12) : value;
  if (grade === 'not-required') return 'This repository needs no proof of it';
  return grade === 'missing' ? 'Not seen' : 'Its name is unknown';
}

/** For a comment or a mail: `observed  Merge  1a2b3c4d5e6f  2026-11-09T10:00:00.000Z  line 120`. */
export function receiptText(receipt: Receipt): string {
  const run = receipt.orchestrator === null ? '' : `, run ${receipt.orchestrator}`;
  const links = receipt.links.map((link) =>
    [
      link.grade.padEnd(12),
      linkNames[link.link].padEnd(12),
      linkValue(link),
      ...(link.at === null ? [] : [link.at]),
      ...(link.seq === null ? [] : [`line ${link.seq}`]),
    ].join('  '),
  );
  return [
    `Ship receipt of ${receipt.ticket}${run}`,
    shippedWords(receipt).words,
    '',
    ...links,
    ...(receipt.flagged.length === 0 ? [] : ['', ...receipt.flagged.map((text) => `! ${text}`)]),
  ].join('\n');
}
