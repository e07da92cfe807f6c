// svc events tail | wait-for | list | counts | append | reindex | topics

import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { endOfWait } from '@svc/lib/timeout';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import { connectDaemon } from '../../../cli/kit/daemon-client.ts';
import { openSession } from '../../../cli/kit/session.ts';
import { AnswerIsNo, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { counted, eventSummary, plainJson, utcText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';
import { reindexAlone } from '../../../kernel/instance/control.ts';
import { parseEventDraft } from '../../../kernel/log/event-line.ts';
import { createJqFilter, type LineFilter } from '../../../kernel/log/jq-filter.ts';
import { leaveInSpool } from '../../../kernel/log/spool.ts';
import { helperRefusal } from '../../helper-topics.ts';
import { topics } from '../../topics.ts';
import {
  conditionOptions,
  lineOf,
  listEvents,
  pastMatch,
  pointText,
  readConditions,
  untilUnreachable,
  type WatchedLine,
  watchEvents,
} from './event-queries.ts';

// svc events append: reports a fact. Without a daemon it waits in the spool.

function appendVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('append', {
    summary: 'Add an event; without the daemon it waits in the spool',
    example: `svc events append --event orchestrator.worker.status_changed \\
      --ticket ABC-12 --detail '{"to":"implementing"}'`,
    route: 'POST /api/events',
  })
    .requiredOption('--event <topic>', 'topic; list them: svc events topics')
    .option('--detail <json>', 'fields of the topic, - for standard input', '{}')
    .option('--ticket <id>', 'ticket that the event is about')
    .option('--orchestrator <id>', 'run that it is about')
    .option('--worker <name>', 'agent that it is about')
    .option('--repo <owner/repo>', 'repository that it is about')
    .option('--key <text>', 'unique key: an event with this key is added only once')
    .action(async (options) => {
      const { machine } = openSession(terminal);
      const { ticket, orchestrator, worker, repo } = options;
      const draft = {
        event: options.event,
        source: 'cli',
        via: 'local',
        ...(options.key !== undefined && { deliveryId: options.key }),
        scope: Object.fromEntries(
          Object.entries({ ticket, orchestrator, worker, repo }).filter(([, value]) => value !== undefined),
        ),
        detail: await detailOf(terminal, options.detail),
      };
      const parsed = parseEventDraft(topics, draft);
      if (!parsed.ok)
        throw new Failure(
          'usage',
          `The event is invalid: ${parsed.problem}.`,
          'Topics and their fields: docs/reference/events.md',
        );
      const refused = helperRefusal(parsed.draft);
      if (refused !== undefined) throw new Failure('usage', refused.problem, refused.remedy);
      const daemon = await connectDaemon(machine);
      if (daemon) return printJson(terminal, await daemon.post('/api/events', { body: parsed.draft }));
      const name = await leaveInSpool({
        folder: machine.spoolDir,
        draft: parsed.draft,
        now: terminal.now().getTime(),
        random: crypto.randomUUID(),
      });
      printJson(terminal, { ok: true, spooled: name });
    });
}

async function detailOf(terminal: Terminal, text: string): Promise<unknown> {
  try {
    return JSON.parse(text === '-' ? await terminal.readInput() : text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Failure('usage', `--detail: expected JSON: ${error.message}`);
    throw error;
  }
}

// svc events counts

const WIDTH = 40;

function countsVerb(terminal: Terminal): CommandUnknownOpts {
  const counts = verb('counts', {
    summary: 'Count events over time, by family of topic',
    example: ['svc events counts --since 24h', 'svc events counts --ticket ABC-12 --since 7d --buckets 7'],
    route: 'GET /api/events/counts',
  })
    .option('--buckets <number>', 'number of time buckets, from 1 to 200', '24')
    .option('--json', 'print JSON');
  for (const option of conditionOptions()) counts.addOption(option);
  return counts.action(async (options) => {
    const { query, since } = readConditions(options, terminal.now().getTime());
    const answer = await (await needDaemon(terminal)).get('/api/events/counts', {
      query: { ...query, since: since && pointText(since), buckets: options.buckets },
    });
    if (options.json) return printJson(terminal, answer);
    const most = Math.max(1, ...answer.buckets.map(({ count }) => count));
    printTable(
      terminal,
      answer.buckets.map(({ at, count, families }) => [
        utcText(at),
        String(count),
        '█'.repeat(Math.ceil((count / most) * WIDTH)).padEnd(WIDTH),
        Object.entries(families)
          .map(([family, number]) => `${family} ${number}`)
          .join(', '),
      ]),
    );
    terminal.out(counted(answer.total, 'event'));
    if (!answer.complete)
      terminal.err(
        'warning: counting took too long; the oldest buckets are incomplete. Choose a later --since.',
      );
  });
}

// svc events reindex: in the daemon when it runs, otherwise here.

function reindexVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('reindex', {
    summary: 'Rebuild the index from the log files',
    example: 'svc events reindex',
    route: 'POST /api/events/reindex',
  })
    .option('--accept-missing', 'accept that lines missing from the log are lost')
    .option('--json', 'print JSON')
    .action(async ({ acceptMissing = false, json }) => {
      const { machine } = openSession(terminal);
      const daemon = await connectDaemon(machine);
      const answer = daemon
        ? await daemon.post('/api/events/reindex', { body: { acceptMissing } })
        : await reindexAlone(machine, terminal.now, { acceptMissing });
      if (json) return printJson(terminal, answer);
      const { lines, seconds } = answer;
      terminal.out(`Indexed ${lines} lines in ${seconds} s`);
    });
}

const DEFAULT_TIMEOUT_S = 600;

export function eventsVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'events',
    {
      summary: 'Search, follow and wait for events',
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
    summary: 'Follow the log, with or without the daemon',
    example: ['svc events tail --event "codehost.*"', 'svc events tail --since 1h --json'],
    route: 'GET /api/events/stream',
  })
    .option('--json', 'print whole events as JSON')
    .option('--filter <jq>', 'only events for which this jq filter is true');
  for (const option of conditionOptions()) tail.addOption(option);
  return tail.action(async (options) => {
    const { machine } = openSession(terminal);
    const conditions = readConditions(options, terminal.now().getTime());
    const matches = await lineFilter(options.filter);
    for await (const lines of watchEvents(machine, conditions, terminal.interrupted, terminal.now)) {
      for (const watched of matching(lines, matches))
        terminal.out(options.json ? watched.text : eventSummary(lineOf(watched)));
    }
  });
}

function waitForVerb(terminal: Terminal): CommandUnknownOpts {
  const waitFor = verb('wait-for', {
    summary: 'Wait for an event and print it; exit 1 on timeout',
    example: [
      'svc events wait-for --event codehost.pr.merged --pr 42 --timeout 600',
      `svc events wait-for --since 5m --event codehost.deployment_status.success \\
      --filter '.scope.environment == "production"'`,
    ],
    route: 'GET /api/events/stream',
  })
    .option('--filter <jq>', 'the first event for which this jq filter is true')
    .option('--timeout <seconds>', `how long to wait (default: ${DEFAULT_TIMEOUT_S})`)
    .option('--strict', 'exit 3 as soon as the event cannot arrive');
  for (const option of conditionOptions()) waitFor.addOption(option);
  return waitFor.action(async (options) => {
    const { machine } = openSession(terminal);
    const conditions = readConditions(options, terminal.now().getTime());
    const matches = await lineFilter(options.filter);
    const over = endOfWait(timeoutMs(options.timeout), terminal.interrupted);
    const batches = watchEvents(machine, conditions, over.signal, terminal.now);
    const obstacle = options.strict ? untilUnreachable(machine, conditions, over.signal) : undefined;
    try {
      const end = await firstOf(batches, matches, obstacle);
      const found = end instanceof Failure ? await pastMatch(machine, conditions, options.filter) : end;
      if (found !== undefined) return terminal.out(found.text);
      if (end instanceof Failure) throw end;
    } finally {
      over.abort();
      // Close its connection or files before the verb ends.
      await batches.return(undefined);
    }
    if (!terminal.interrupted.aborted)
      terminal.err(
        'No matching event arrived in time. Wait longer with --timeout, or check the feeds: svc feeds',
      );
    throw new AnswerIsNo();
  });
}

/** The first match, the reason why none can arrive, or undefined on timeout. */
async function firstOf(
  batches: AsyncGenerator<WatchedLine[]>,
  matches: LineFilter | undefined,
  obstacle: Promise<Failure | undefined> | undefined,
): Promise<WatchedLine | Failure | undefined> {
  for (;;) {
    const next = batches.next();
    const batch = await (obstacle === undefined ? next : Promise.race([next, obstacle]));
    if (batch instanceof Failure) return batch;
    if (batch === undefined || batch.done === true) return undefined;
    const [found] = matching(batch.value, matches);
    if (found) return found;
  }
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  const list = verb('list', {
    summary: 'List past events, newest last',
    example: [
      'svc events list --ticket ABC-12',
      'svc events list --event "codehost.deployment*" --since 2d --json',
    ],
    route: 'GET /api/events',
  })
    .option('--json', 'print whole events as JSON')
    .option('--filter <jq>', 'only events for which this jq filter is true')
    .option('--limit <number>', 'show only the newest <number>', '50');
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
    if (fromFiles)
      terminal.err('The daemon is not running; read the log files instead. Start it: svc monitor start');
    for (const line of lines) terminal.out(options.json ? plainJson(line) : eventSummary(line));
    if (lines.length === 0) throw new AnswerIsNo();
  });
}

function topicsVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('topics', {
    summary: 'List the topics that an event can have',
    example: 'svc events topics "codehost.deployment*"',
  })
    .argument('[glob]')
    .option('--json', 'print JSON')
    .action((glob, options) => {
      const found = glob === undefined ? topics.names : topics.matching(glob);
      if (options.json) printJson(terminal, found);
      else for (const topic of found) terminal.out(topic);
      if (found.length === 0) throw new AnswerIsNo();
    });
}

async function lineFilter(text: string | undefined): Promise<LineFilter | undefined> {
  return text === undefined ? undefined : createJqFilter(topics, text);
}

function matching(lines: readonly WatchedLine[], filter: LineFilter | undefined): readonly WatchedLine[] {
  if (filter === undefined) return lines;
  const answers = filter(lines.map(({ text }) => text));
  return lines.filter((_, index) => answers[index]);
}

function timeoutMs(text: string | undefined): number {
  const seconds = Number(text ?? DEFAULT_TIMEOUT_S);
  if (seconds > 0 && seconds <= 2_000_000) return Math.ceil(seconds * 1000);
  throw new Failure('usage', `--timeout: expected a number of seconds, found ${text}.`);
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new Failure('usage', `--limit: expected a whole number from 1 to 1000, found ${text}.`);
}
