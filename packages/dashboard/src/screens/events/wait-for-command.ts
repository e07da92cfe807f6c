// Turns an event, or the screen's filters, into the command that waits for the next matching event.
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';

export type EventFilters = { event: string; ticket: string; repo: string; pr: string; filter: string };

/** As query parameters; empty filters are left out. */
export function conditionsOf({ event, ticket, repo, pr, filter }: EventFilters) {
  return {
    event: unlessEmpty(event),
    ticket: unlessEmpty(ticket),
    repo: unlessEmpty(repo),
    pr: unlessEmpty(pr),
    filter: unlessEmpty(filter),
  };
}

function unlessEmpty(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** `svc events wait-for --event codehost.pr.merged --repo acme/shop --pr 42` */
export function waitForLine({ event, scope }: Pick<EventLine, 'event' | 'scope'>): string {
  return command([
    ['--event', event],
    ['--ticket', scope.pr === undefined ? scope.ticket : undefined],
    ['--repo', scope.repo],
    ['--pr', scope.pr === undefined ? undefined : String(scope.pr)],
  ]);
}

export function waitForFilters({ event, ticket, repo, pr, filter }: EventFilters): string {
  return command([
    ['--event', event],
    ['--ticket', ticket],
    ['--repo', repo],
    ['--pr', pr],
    ['--filter', filter],
  ]);
}

function command(options: readonly (readonly [string, string | undefined])[]): string {
  const given = options.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [name, quoted(value)],
  );
  return ['svc events wait-for', ...given].join(' ');
}

/** Quotes for any shell: text from outside must not break out of a command that a user pastes. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-')) return text;
  // A line break would press Enter in some terminals.
  return `'${text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').replaceAll("'", `'\\''`)}'`;
}
