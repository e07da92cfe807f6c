// The ship receipt: the chain from the ticket to the deployment, with the grade of each link.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import {
  Check,
  CircleHelp,
  LoaderCircle,
  type LucideIcon,
  Minus,
  Quote,
  TriangleAlert,
  X,
} from 'lucide-react';
import type { Receipt } from 'svc-monitor/src/features/workers/api.ts';
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import { client } from '../../api/client.ts';
import { Age } from '../../parts/age.tsx';
import { CopyButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { EventLink } from '../../parts/event-link.tsx';
import { backgroundOf, edgeOf, textOf } from '../../parts/meaning.ts';
import { OutsideLink, OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

type Link = Receipt['links'][number];

const linkNames: Record<Link['link'], string> = {
  ticket: 'Ticket',
  'pull-request': 'Pull request',
  checks: 'Checks',
  merge: 'Merge',
  deployment: 'Deployment',
};

export function shippedWords({ shipped, ticket, flagged }: Receipt): { meaning: Meaning; words: string } {
  if (shipped === null) return { meaning: 'unknown', words: `It is unknown whether ${ticket} shipped.` };
  if (!shipped) return { meaning: 'unknown', words: `${ticket} has not shipped.` };
  return flagged.some((text) => text.startsWith('A person accepted it as done'))
    ? { meaning: 'unknown', words: `A person accepted ${ticket} as shipped.` }
    : { meaning: 'proven', words: `${ticket} shipped.` };
}

/** Green only for successful facts that were observed or fetched. */
export function linkMeaning({ link, grade, value }: Pick<Link, 'link' | 'grade' | 'value'>): Meaning {
  if (grade !== 'observed' && grade !== 'fetched') return 'unknown';
  if (link === 'checks' && value?.startsWith('failed') === true) return 'broken';
  if (link === 'checks' && value?.startsWith('running') === true) return 'motion';
  return 'proven';
}

/** The value of a link, or a text if it has none. */
export function linkValue({ link, grade, value }: Link): string {
  if (value !== null) return link === 'merge' && /^[0-9a-f]{40}$/.test(value) ? value.slice(0, 12) : value;
  if (grade === 'not-required') return 'Not required for this repository';
  return grade === 'missing' ? 'Not seen' : 'Name unknown';
}

/** For a comment or a mail: `observed  Merge  1a2b3c4d5e6f  2026-11-09T10:00:00.000Z  event 120`. */
export function receiptText(receipt: Receipt): string {
  const run = receipt.orchestrator === null ? '' : `, run ${receipt.orchestrator}`;
  const links = receipt.links.map((link) =>
    [
      link.grade.padEnd(12),
      linkNames[link.link].padEnd(12),
      linkValue(link),
      ...(link.at === null ? [] : [link.at]),
      ...(link.seq === null ? [] : [`event ${link.seq}`]),
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

type ReceiptLink = Receipt['links'][number];

export function ReceiptPanel({ ticket, run }: { ticket: string; run: string | undefined }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['ticket', ticket, 'receipt', run],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/receipt', {
        params: { ticket },
        query: { orchestrator: run },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Ship receipt" aside={data && <CopyButton text={receiptText(data)} label="Copy as text" />}>
      {data !== undefined ? (
        <Chain receipt={data} />
      ) : error !== null ? (
        <Failed error={error} again={() => void refetch()} />
      ) : (
        <Loading what="the receipt" lines={5} />
      )}
    </Panel>
  );
}

function Chain({ receipt }: { receipt: Receipt }) {
  const { meaning, words } = shippedWords(receipt);
  return (
    <div className="flex flex-col gap-4">
      <p className={classNames('text-lead', meaning === 'proven' ? textOf.proven : 'text-ink')}>{words}</p>
      <ol aria-label="Links of the receipt">
        {receipt.links.map((link, index) => (
          <LinkRow key={link.link} link={link} isLast={index === receipt.links.length - 1} />
        ))}
      </ol>
      {receipt.flagged.length > 0 && (
        <ul
          aria-label="Limits of this proof"
          className="flex flex-col gap-1.5 rounded-control bg-you-soft px-3 py-2 text-small text-you"
        >
          {receipt.flagged.map((text) => (
            <li key={text} className="flex gap-2">
              <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
              <OutsideText>{text}</OutsideText>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function LinkRow({ link, isLast }: { link: ReceiptLink; isLast: boolean }) {
  const meaning = linkMeaning(link);
  const value = linkValue(link);
  return (
    <li className="relative flex gap-3 pb-3 last:pb-0">
      {!isLast && (
        <span
          aria-hidden="true"
          className={classNames(
            'absolute top-7 bottom-0 left-3 border-l',
            meaning === 'proven' ? 'border-proven-mark' : 'border-line-strong border-dashed',
          )}
        />
      )}
      <span
        aria-hidden="true"
        className={classNames(
          'flex size-6 shrink-0 items-center justify-center rounded-full border',
          edgeOf[meaning],
          textOf[meaning],
          link.grade === 'missing' ? 'bg-surface' : backgroundOf[meaning],
        )}
      >
        <Mark link={link} />
      </span>
      <div className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3 gap-y-0.5 pt-0.5 text-small">
        <span className="w-24 shrink-0 font-medium text-ink">{linkNames[link.link]}</span>
        <span className={classNames('min-w-32 flex-1', link.value === null ? 'text-muted' : 'text-text')}>
          <OutsideLink href={link.url}>
            <OutsideText className={classNames(link.link === 'merge' && link.value !== null && 'font-mono')}>
              {value}
            </OutsideText>
          </OutsideLink>
        </span>
        <span className="flex items-baseline gap-2 text-tiny">
          <span className={classNames('font-medium', textOf[meaning])}>{link.grade.replace('-', ' ')}</span>
          {link.at !== null && <Age at={link.at} className="text-muted" />}
          {link.seq !== null && <EventLink seq={link.seq} />}
        </span>
      </div>
    </li>
  );
}

function Mark({ link }: { link: ReceiptLink }) {
  const Icon = iconOf(link);
  return <Icon className="size-3.5" />;
}

const meaningIcons: Partial<Record<Meaning, LucideIcon>> = {
  proven: Check,
  broken: X,
  motion: LoaderCircle,
};

function iconOf(link: ReceiptLink): LucideIcon {
  const icon = meaningIcons[linkMeaning(link)];
  if (icon !== undefined) return icon;
  if (link.grade === 'claimed') return Quote;
  return link.grade === 'not-required' ? Minus : CircleHelp;
}
