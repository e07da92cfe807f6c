// svc events tail | wait-for | list | counts | append | reindex | topics
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { type EventLine, topics, topicsMatching } from '@svc/core';
import { Failure } from '../../errors.ts';
import { createJqFilter, type LineFilter } from '../../log/jq-filter.ts';
import { AnswerIsNo } from '../endings.ts';
import { conditionOptions, readConditions } from '../event-conditions.ts';
import { eventSummary } from '../event-text.ts';
import { untilBlind } from '../feed-sight.ts';
import { listEvents } from '../list-events.ts';
import { plainJson } from '../plain-text.ts';
import { openSession } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';
import { endOfWait, type WatchedLine, watchEvents } from '../watch-events.ts';
import { appendVerb } from './events-append.ts';
import { countsVerb } from './events-counts.ts';
import { reindexVerb } from './events-reindex.ts';

const DEFAULT_TIMEOUT_S = 600;

export function eventsVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'events',
    {
      summary: 'The event log: follow it, wait for a line, search it',
      example: 'svc events wait-for --event codehost.pr.merged --pr 42',
    },
    [
      tailVerb(terminal),
      waitForVerb(terminal),
      listVerb(terminal),
      countsVerb(terminal),
      appendVerb(terminal),
      reindexVerb(terminal),
      topicsVerb(terminal),
    ],
  );
}

function tailVerb(terminal: Terminal): CommandUnknownOpts {
  const tail = verb('tail', {
    summary: 'Follow the log; with the daemon up or down',
    example: ['svc events tail --event "codehost.*"', 'svc events tail --since 1h --json'],
    route: 'GET /api/events/stream',
  })
    .option('--json', 'print whole lines as JSON')
    .option('--filter <jq>', 'only lines for which this jq filter is true');
  for (const option of conditionOptions()) tail.addOption(option);
  return tail.action(async (options) => {
    const { machine } = openSession(terminal);
    const conditions = readConditions(options, terminal.now().getTime());
    const matches = await lineFilter(options.filter);
    for await (const lines of watchEvents(machine, conditions, terminal.interrupted, terminal.now)) {
      for (const { text } of matching(lines, matches))
        terminal.out(options.json ? text : eventSummary(JSON.parse(text) as EventLine));
    }
  });
}

function waitForVerb(terminal: Terminal): CommandUnknownOpts {
  const waitFor = verb('wait-for', {
    summary: 'Wait for a line, print it, exit 0; exit 1 when the time is over',
    example: [
      'svc events wait-for --event codehost.pr.merged --pr 42 --timeout 600',
      `svc events wait-for --since 5m --filter '.event == "codehost.deployment_status.success" and .scope.environment == "production"'`,
    ],
    route: 'GET /api/events/stream',
  })
    .option('--filter <jq>', 'the line for which this jq filter is true')
    .option('--timeout <seconds>', `how long to wait (default: ${DEFAULT_TIMEOUT_S})`)
    .option('--strict', 'exit 3 when the feed that could deliver it is blind');
  for (const option of conditionOptions()) waitFor.addOption(option);
  return waitFor.action(async (options) => {
    const { machine } = openSession(terminal);
    const conditions = readConditions(options, terminal.now().getTime());
    const matches = await lineFilter(options.filter);
    const over = endOfWait(timeoutMs(options.timeout), terminal.interrupted);
    const batches = watchEvents(machine, conditions, over.signal, terminal.now);
    const blind = options.strict ? untilBlind(machine, conditions.query.event, over.signal) : undefined;
    try {
      const found = await firstOf(batches, matches, blind);
      if (found !== undefined) return terminal.out(found.text);
    } finally {
      over.abort();
      // What it has open is closed before the verb ends.
      await batches.return(undefined);
    }
    if (!terminal.interrupted.aborted) terminal.err('No such event came in time.');
    throw new AnswerIsNo();
  });
}

/** The first line that matches, or undefined when the time is over; rejects when the feed is blind. */
async function firstOf(
  batches: AsyncGenerator<WatchedLine[]>,
  matches: LineFilter | undefined,
  blind: Promise<undefined> | undefined,
): Promise<WatchedLine | undefined> {
  for (;;) {
    const next = batches.next();
    const batch = await (blind === undefined ? next : Promise.race([next, blind]));
    if (batch === undefined || batch.done === true) return undefined;
    const [found] = matching(batch.value, matches);
    if (found) return found;
  }
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  const list = verb('list', {
    summary: 'Lines of the past, newest last; from the index',
    example: [
      'svc events list --ticket ABC-12',
      'svc events list --event "codehost.deployment*" --since 2d --json',
    ],
    route: 'GET /api/events',
  })
    .option('--json', 'print whole lines as JSON')
    .option('--filter <jq>', 'only lines for which this jq filter is true')
    .option('--limit <number>', 'at most so many, the newest', '50');
  for (const option of conditionOptions()) list.addOption(option);
  return list.action(async (options) => {
    const { machine } = openSession(terminal);
    const conditions = readConditions(options, terminal.now().getTime());
    const { lines, fromFiles } = await listEvents(
      machine,
      conditions,
      limitOf(options.limit),
      options.filter,
    );
    if (fromFiles) terminal.err('The daemon is not running; the files were read without the index.');
    for (const line of lines) terminal.out(options.json ? plainJson(line) : eventSummary(line));
    if (lines.length === 0) throw new AnswerIsNo();
  });
}

function topicsVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('topics', {
    summary: 'The topics that an event can have',
    example: 'svc events topics "codehost.deployment*"',
  })
    .argument('[glob]')
    .option('--json', 'print JSON')
    .action((glob, options) => {
      const found = glob === undefined ? topics : topicsMatching(glob);
      if (options.json) printJson(terminal, found);
      else for (const topic of found) terminal.out(topic);
      if (found.length === 0) throw new AnswerIsNo();
    });
}

async function lineFilter(text: string | undefined): Promise<LineFilter | undefined> {
  return text === undefined ? undefined : createJqFilter(text);
}

function matching(lines: readonly WatchedLine[], filter: LineFilter | undefined): readonly WatchedLine[] {
  if (filter === undefined) return lines;
  const answers = filter(lines.map(({ text }) => text));
  return lines.filter((_, index) => answers[index]);
}

function timeoutMs(text: string | undefined): number {
  const seconds = Number(text ?? DEFAULT_TIMEOUT_S);
  if (seconds > 0 && seconds <= 2_000_000) return Math.ceil(seconds * 1000);
  throw new Failure('usage', `--timeout: expected seconds, found ${text}.`);
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new Failure('usage', `--limit: expected a whole number from 1 to 1000, found ${text}.`);
}
