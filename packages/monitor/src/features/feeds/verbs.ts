// svc feeds | svc feeds check | svc feeds ping
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { routeVerb } from '../../cli/kit/route-verb.ts';
import { paint, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { utcText } from '../../cli/kit/text.ts';
import { refusedWords } from './judge-feeds.ts';

type Tunnel = Answer<'GET', '/api/feeds'>['tunnels'][number];

type CheckReport = Answer<'POST', '/api/feeds/check'>['repos'][number];
type PolledFeed = Answer<'POST', '/api/feeds/check'>['polled'][number];
type PingReport = Answer<'POST', '/api/feeds/ping'>['feeds'][number];

const stateVerb = routeVerb('feeds', 'GET /api/feeds', {
  summary: 'Show the state of each feed and how to fix it',
  example: ['svc feeds', 'svc feeds check --since 1d --repair', 'svc feeds ping'],
  print: (terminal, report) => {
    printTable(
      terminal,
      report.tunnels.map((tunnel) => tunnelRow(terminal, tunnel)),
    );
    for (const { repo, by, why, remedy } of report.repos)
      terminal.out(`${repo}  ${by}${reason(why, remedy)}`);
    const { codehost } = report;
    const asked = codehost.state === 'disabled' ? '' : `  last ${lastWords(codehost.lastAt)}`;
    terminal.out(`code host polling  ${codehost.state}${asked}${reason(codehost.why, codehost.remedy)}`);
    if (codehost.clock) terminal.out(`clock${reason(codehost.clock.why, codehost.clock.remedy)}`);
    const { state, why, remedy, teams } = report.tracker;
    terminal.out(`tracker polling  ${state}${reason(why ?? null, remedy ?? null)}`);
    for (const team of teams) {
      terminal.out(`  ${team.team}  last ${lastWords(team.lastAt)}${reason(team.error, team.remedy)}`);
    }
  },
});

const checkVerb = routeVerb('check', 'POST /api/feeds/check', {
  summary: 'Compare what the code host sent with the log, or poll now',
  details:
    'With --repair, what is missing is fetched, and code host and tracker are polled now, whatever their webhooks report.\nExit code 1 when a delivery is missing or a poll fails.',
  example: 'svc feeds check --since 3d --repair',
  fields: {
    since: ['--since <duration>', 'how far back to compare, at most 3d', '1h'],
    repair: ['--repair', 'fetch what is missing, and poll code host and tracker now'],
  },
  print: (terminal, { repos, polled }) => {
    if (repos.length === 0) terminal.out('No repository has a webhook. Find out why: svc feeds');
    else
      printTable(terminal, [
        ['repository', 'sent', 'received', 'missing', 'repaired', ''],
        ...repos.map(checkRow),
      ]);
    printTable(terminal, polled.map(polledRow));
  },
  isNo: ({ repos, polled }) =>
    repos.some(({ missing, repaired, problem }) => missing > repaired || problem !== null) ||
    polled.some(({ state }) => state === 'failed'),
});

const pingVerb = routeVerb('ping', 'POST /api/feeds/ping', {
  summary: 'Send a test delivery through every live feed',
  details: 'Exit code 1 when a delivery does not arrive.',
  example: 'svc feeds ping --timeout 5s',
  fields: { timeout: ['--timeout <duration>', 'how long to wait, from 1s to 60s', '10s'] },
  json: ({ feeds }) => feeds,
  print: (terminal, { feeds }) =>
    printTable(
      terminal,
      feeds.map((result) => pingRow(terminal, result)),
    ),
  // A feed that is not set up is not a failure, unless there is no other.
  isNo: ({ feeds }) => feeds.some((result) => !result.ok && !result.disabled) || !feeds.some(({ ok }) => ok),
});

export function feedsVerb(terminal: Terminal): CommandUnknownOpts {
  return stateVerb(terminal).addCommand(checkVerb(terminal)).addCommand(pingVerb(terminal));
}

function pingRow(terminal: Terminal, result: PingReport): string[] {
  if (result.ok) return [result.feed, paint(terminal, 'green', 'arrived'), `${result.milliseconds} ms`];
  const { feed, disabled, why, remedy } = result;
  const state = disabled ? paint(terminal, 'gray', 'disabled') : paint(terminal, 'yellow', 'failed');
  return [feed, state, reason(why, remedy).trim()];
}

function checkRow({ repo, sent, received, missing, repaired, problem }: CheckReport): string[] {
  return [repo, ...[sent, received, missing, repaired].map(String), problem?.message ?? ''];
}

function polledRow({ name, state, checked, newEvents, why, remedy }: PolledFeed): string[] {
  const found =
    checked === null ? '' : `${checked} checked, ${newEvents} new ${newEvents === 1 ? 'event' : 'events'}`;
  return [name, state === 'disabled' ? 'not polled' : state, found, reason(why, remedy).trim()];
}

function tunnelRow(terminal: Terminal, tunnel: Tunnel): string[] {
  const { feeds, grade, since, why, remedy, lastMessageAt, unauthorisedLastHour } = tunnel;
  const colour =
    grade === 'live' ? 'green' : grade === 'disabled' || grade === 'connecting' ? 'gray' : 'yellow';
  return [
    feeds.join(' and '),
    paint(terminal, colour, grade),
    since === null ? '' : `since ${timeText(since)}`,
    `last delivery ${lastMessageAt === null ? 'never' : timeText(lastMessageAt)}`,
    refusedWords(unauthorisedLastHour).join(''),
    reason(why, remedy).trim(),
  ];
}

function lastWords(at: string | null): string {
  return at === null ? 'never' : utcText(at);
}

function timeText(time: number): string {
  return utcText(new Date(time).toISOString());
}

function reason(why: string | null, remedy: string | null): string {
  if (why === null) return '';
  return `  ${why.replace(/\.$/, '')}${remedy === null ? '' : `. ${remedy}`}`;
}
