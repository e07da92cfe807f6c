// svc agent show | answer | send | stop | changes
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { costText, hookAnswers, limitText, pausedBy } from '@svc/core';
import { Failure } from '../../errors.ts';
import type { DaemonClient } from '../daemon-client.ts';
import { needDaemon, requestedBy } from '../session.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../terminal.ts';
import { ageText, counted, plainText, utcText } from '../text.ts';
import { verb, verbGroup } from '../verb.ts';
import { commandMachine, getTeamBoard, onMachineOption } from './team.ts';

type AgentView = Answer<'GET', '/api/workers/{ticket}/agent'>;
type Item = AgentView['items'][number];
type Request = NonNullable<AgentView['agent']>['open'][number];
type Answered = (typeof answers)[number];

const ROUTE = '/api/workers/{ticket}/agent';
const SHOWN_ITEMS = 20;
const SHOWN_LINES = 20;
const answers = ['allow_once', 'allow_always', 'reject_once', 'reject_always', 'accept', 'decline'] as const;
/** What people type most. */
const shortAnswers: Readonly<Record<string, Answered>> = { allow: 'allow_once', reject: 'reject_once' };

export function agentVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'agent',
    {
      summary: "Show what a ticket's agent does, answer it, steer it",
      example: ['svc agent show ABC-12', 'svc agent answer ABC-12 allow'],
    },
    [showVerb(terminal), answerVerb(terminal), sendVerb(terminal), stopVerb(terminal), changesVerb(terminal)],
  );
}

function showVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('show', {
    summary: 'Show what an agent is doing and what it asks for',
    example: ['svc agent show ABC-12', 'svc agent show ABC-12 --limit 100'],
    route: 'GET /api/workers/:ticket/agent',
  })
    .argument('<ticket>')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)')
    .option('--limit <number>', 'show the newest <number> items', String(SHOWN_ITEMS))
    .option('--json', 'print JSON')
    .action(async (ticket, { orchestrator, limit, json }) => {
      const daemon = await needDaemon(terminal);
      const view = await daemon.get(ROUTE, { params: { ticket }, query: { orchestrator } });
      if (json) return printJson(terminal, view);
      printAgent(terminal, view, Number(limit) || SHOWN_ITEMS);
      if (view.agent === null) throw new AnswerIsNo();
    });
}

function answerVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('answer', {
    summary: "Answer an agent's request for a permission or input",
    details: `Answers: allow, reject, ${answers.slice(1).join(', ')}. Without an answer, shows what is asked. An agent that you started yourself is named by its session, and needs: svc hooks install <agent> --answer`,
    example: [
      'svc agent answer ABC-12 allow',
      'svc agent answer ABC-12 allow_always --confirm',
      'svc agent answer ABC-12 accept --value database=postgres',
      'svc agent answer claude/3f2a91c0 allow',
      'svc agent answer ABC-12 allow --machine kim-laptop',
    ],
    route: 'POST /api/workers/:ticket/agent/answer, POST /api/sessions/answer, POST /api/team/commands',
  })
    .argument('<ticket>')
    .argument('[answer]')
    .option('--request <id>', 'request to answer, if several are open')
    .option(
      '--value <name=value>',
      'field of a question; repeatable',
      (value: string, before: string[]) => [...before, value],
      [] as string[],
    )
    .option('--confirm', 'confirm an answer that also decides later requests')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)')
    .option(...onMachineOption)
    .option('--json', 'print JSON')
    .action(async (ticket, given, { request: named, value, confirm, orchestrator, machine, json }) => {
      if (machine !== undefined) {
        const asked = requestIn(ticket, await openOnMachine(terminal, machine, ticket), named);
        if (given === undefined)
          return json ? printJson(terminal, asked) : printRequest(terminal, asked, ticket);
        const answer = answerOfSession(shortAnswers[given] ?? given);
        const command = {
          verb: 'answer',
          subject: ticket,
          request: asked.request,
          answer,
          orchestrator,
        } as const;
        return commandMachine(terminal, machine, command, { json });
      }
      const daemon = await needDaemon(terminal);
      const isSession = ticket.includes('/');
      const view = isSession
        ? null
        : await daemon.get(ROUTE, { params: { ticket }, query: { orchestrator } });
      const open = view?.agent?.open ?? (isSession ? await openOfSession(daemon, ticket) : []);
      const request = requestIn(ticket, open, named);
      if (given === undefined) {
        if (json) return printJson(terminal, request);
        return printRequest(terminal, request, ticket);
      }
      const answer = shortAnswers[given] ?? answers.find((one) => one === given);
      if (answer === undefined)
        throw new Failure(
          'usage',
          `Unknown answer ${given}.`,
          `Use one of: allow, reject, ${answers.join(', ')}`,
        );
      const result =
        view === null
          ? await daemon.post('/api/sessions/answer', {
              body: {
                session: ticket,
                request: request.request,
                answer: answerOfSession(answer),
                ...requestedBy(terminal),
              },
            })
          : await daemon.post('/api/workers/{ticket}/agent/answer', {
              params: { ticket },
              body: {
                request: request.request,
                answer,
                confirm,
                orchestrator: view.orchestrator,
                ...(value.length > 0 && { content: contentOf(request, value) }),
                ...requestedBy(terminal),
              },
            });
      if (json) return printJson(terminal, result);
      terminal.out(`Answered ${result.answered}: ${plainText(request.command ?? request.title)}`);
    });
}

function sendVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('send', {
    summary: 'Send a message to an agent',
    details: 'A busy agent gets it when it is idle; an agent that has ended is started again.',
    example: [
      'svc agent send ABC-12 "Use the existing helper instead"',
      'svc agent send ABC-12 "Use the existing helper instead" --machine kim-laptop',
    ],
    route: 'POST /api/workers/:ticket/agent/message, POST /api/team/commands',
  })
    .argument('<ticket>')
    .argument('<text>')
    .option('--key <key>', 'send only once for the same key')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)')
    .option(...onMachineOption)
    .option('--json', 'print JSON')
    .action(async (ticket, text, { key, orchestrator, machine, json }) => {
      if (machine !== undefined)
        return commandMachine(terminal, machine, { verb: 'send', ticket, text, orchestrator }, { json, key });
      const daemon = await needDaemon(terminal);
      const result = await daemon.post('/api/workers/{ticket}/agent/message', {
        params: { ticket },
        body: { text, key, orchestrator, ...requestedBy(terminal) },
      });
      if (json) return printJson(terminal, result);
      terminal.out(`Message to ${plainText(ticket)}: ${result.queued}`);
    });
}

function stopVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('stop', {
    summary: 'Stop what an agent is doing; it stays alive for messages',
    example: 'svc agent stop ABC-12',
    route: 'POST /api/workers/:ticket/agent/stop',
  })
    .argument('<ticket>')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)')
    .option('--json', 'print JSON')
    .action(async (ticket, { orchestrator, json }) => {
      const daemon = await needDaemon(terminal);
      const result = await daemon.post('/api/workers/{ticket}/agent/stop', {
        params: { ticket },
        body: { orchestrator, ...requestedBy(terminal) },
      });
      if (json) return printJson(terminal, result);
      terminal.out(`Stopped the turn of ${plainText(ticket)}. Its open requests are cancelled.`);
    });
}

/** What is asked there is not shared, only that something is. */
async function openOnMachine(terminal: Terminal, machine: string, subject: string): Promise<Request[]> {
  const [shown] = (await getTeamBoard(terminal, { machine })).machines;
  if (subject.includes('/')) return shown?.sessions.find(({ key }) => key === subject)?.open ?? [];
  return shown?.workers.findLast(({ ticket }) => ticket === subject)?.agent?.open ?? [];
}

async function openOfSession(daemon: DaemonClient, key: string): Promise<Request[]> {
  const { sessions } = await daemon.get('/api/board');
  return sessions.find((session) => session.key === key)?.open ?? [];
}

function answerOfSession(answer: string): (typeof hookAnswers)[number] {
  const found = hookAnswers.find((one) => one === answer);
  if (found !== undefined) return found;
  throw new Failure('usage', `This request cannot be answered with ${answer}.`, 'Use: allow, reject');
}

function requestIn(ticket: string, open: readonly Request[], named: string | undefined): Request {
  const [first, second] = named === undefined ? open : open.filter(({ request }) => request === named);
  if (first === undefined)
    throw new Failure(
      'not-allowed-now',
      `${ticket} has no open request${named === undefined ? '' : ` ${named}`}.`,
      ticket.includes('/')
        ? 'If the agent asks, answer it in the terminal in which it runs. See what can be answered: svc board'
        : `See what it does: svc agent show ${ticket}`,
    );
  if (second === undefined) return first;
  const ids = open.map(({ request, title }) => `${request} (${title})`).join(', ');
  throw new Failure('usage', `${ticket} has several open requests: ${ids}.`, 'Choose one with --request.');
}

function contentOf(
  { fields }: Request,
  values: readonly string[],
): Record<string, string | number | boolean> {
  return Object.fromEntries(
    values.map((given) => {
      const at = given.indexOf('=');
      const name = given.slice(0, at);
      const text = given.slice(at + 1);
      const field = fields.find((one) => one.name === name);
      if (at < 1 || field === undefined)
        throw new Failure(
          'usage',
          `Unknown field ${given}.`,
          `The fields are: ${fields.map((one) => one.name).join(', ')}`,
        );
      if (field.type === 'number') return [name, Number(text)];
      return [name, field.type === 'flag' ? text === 'true' : text];
    }),
  );
}

export function printAgent(
  terminal: Terminal,
  { agent, ticket, cost, waiting, items, journal }: AgentView,
  limit: number,
): void {
  if (agent === null) {
    terminal.err(`No agent of ${plainText(ticket)} was started yet. See why: svc why ${plainText(ticket)}`);
    return;
  }
  const { name, version, protocol, reason, state, since, mode, model } = agent;
  terminal.out(`${plainText(name)} ${plainText(version ?? '')}`.trimEnd());
  if (!protocol) terminal.out(`Runs as a command line: ${plainText(reason ?? 'unknown')}`);
  const pause = pausedBy(agent);
  const until = pause?.resumeAt ? ` until ${utcText(pause.resumeAt)}` : '';
  const shown = pause === null ? (state ?? 'unknown') : `paused${until}`;
  terminal.out(`State: ${shown}, since ${ageText(pause?.at ?? since, terminal.now())}`);
  if (pause !== null) terminal.out(paint(terminal, 'yellow', plainText(limitText(pause))));
  if (protocol)
    terminal.out(
      [
        `mode ${plainText(mode ?? 'unknown')}`,
        `model ${plainText(model ?? 'unknown')}`,
        usageText(agent),
      ].join(', '),
    );
  terminal.out(`Cost of the ticket: ${costText(cost)}`);
  if (agent.problem !== null && pause === null)
    terminal.out(paint(terminal, 'red', `Problem: ${plainText(agent.problem)}`));
  for (const item of items.slice(-limit)) printItem(terminal, item);
  for (const text of waiting) terminal.out(paint(terminal, 'dim', `waiting to be sent: ${plainText(text)}`));
  for (const request of agent.open) printRequest(terminal, request, ticket);
  if (journal !== null) terminal.out(paint(terminal, 'dim', `Journal: ${plainText(journal)}`));
}

function usageText({ tokens, cost, context }: NonNullable<AgentView['agent']>): string {
  const used = context === null ? 'context unknown' : `context ${context.used} of ${context.size} tokens`;
  const amount = tokens === null ? 'tokens unknown' : `${tokens.input} tokens in, ${tokens.output} out`;
  const price = cost === null ? 'cost unknown' : `cost ${cost.amount.toFixed(2)} ${plainText(cost.currency)}`;
  return [used, amount, price].join(', ');
}

function printItem(terminal: Terminal, item: Item): void {
  switch (item.kind) {
    case 'prompt':
      return printText(terminal, 'cyan', `> ${item.by === null ? '' : `${item.by}: `}${item.text}`);
    case 'message':
      return printText(terminal, null, item.text);
    case 'thought':
      return;
    case 'tool': {
      const exit = item.exitCode === null ? '' : `, exit code ${item.exitCode}`;
      return printText(terminal, 'dim', `${item.status}: ${item.command ?? item.title}${exit}`);
    }
    case 'plan':
      return printText(
        terminal,
        'dim',
        item.entries.map(({ status, content }) => `${status}: ${content}`).join('\n'),
      );
    case 'request':
      return item.answer === null
        ? undefined
        : printText(
            terminal,
            'dim',
            `${item.request.title}: ${item.answer}${item.by === null ? '' : ` by ${item.by}`}`,
          );
    case 'turn':
      return printText(terminal, item.ok ? 'dim' : 'red', `turn ended: ${item.reason}`);
  }
}

function printText(terminal: Terminal, colour: 'cyan' | 'dim' | 'red' | null, text: string): void {
  const lines = text.split('\n');
  for (const line of lines.slice(0, SHOWN_LINES))
    terminal.out(colour === null ? plainText(line) : paint(terminal, colour, plainText(line)));
  if (lines.length > SHOWN_LINES)
    terminal.out(paint(terminal, 'dim', `… ${lines.length - SHOWN_LINES} more lines`));
}

export function printRequest(terminal: Terminal, request: Request, ticket: string): void {
  const { kind, title, command, paths, options, fields } = request;
  terminal.out(
    paint(
      terminal,
      'yellow',
      `The agent asks ${kind === 'permission' ? 'for permission' : 'a question'}: ${plainText(title)}`,
    ),
  );
  if (command !== null && command !== title) terminal.out(`  command: ${plainText(command)}`);
  for (const path of paths) terminal.out(`  file: ${plainText(path)}`);
  for (const { kind: answer, name } of options) terminal.out(`  ${answer}: ${plainText(name)}`);
  for (const { name, title: label, choices } of fields)
    terminal.out(
      `  ${plainText(name)}: ${plainText(label)}${choices.length === 0 ? '' : ` (${choices.map(plainText).join(', ')})`}`,
    );
  terminal.out(
    `Answer: svc agent answer ${plainText(ticket)} ${kind === 'permission' ? 'allow|reject' : 'accept --value <name=value>'}`,
  );
}

// svc agent changes

type Changes = Answer<'GET', '/api/workers/{ticket}/changes'>;
type ChangedFile = Changes['files'][number];

export function changesVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('changes', {
    summary: 'Show the changes in a ticket’s worktree against its base',
    details: 'Committed, uncommitted and untracked files since the branch left its base.',
    example: ['svc agent changes ABC-12', 'svc agent changes ABC-12 --stat'],
    route: 'GET /api/workers/:ticket/changes',
  })
    .argument('<ticket>')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)')
    .option('--stat', 'show only the files and the number of changed lines')
    .option('--json', 'print JSON')
    .action(async (ticket, { orchestrator, stat, json }) => {
      const daemon = await needDaemon(terminal);
      const changes = await daemon.get('/api/workers/{ticket}/changes', {
        params: { ticket },
        query: { orchestrator },
      });
      if (json) return printJson(terminal, changes);
      printFiles(terminal, changes);
      if (!stat) for (const { diff } of changes.files) printDiff(terminal, diff);
    });
}

function printFiles(terminal: Terminal, { files, worktree, base, baseSha, cut }: Changes): void {
  const where = `${plainText(worktree)} since ${plainText(base)} (${plainText(baseSha.slice(0, 12))})`;
  terminal.out(`${counted(files.length, 'changed file')} in ${where}`);
  printTable(
    terminal,
    files.map((file) => [`  ${file.status}`, linesOf(file), plainText(nameOf(file))]),
  );
  if (cut) terminal.out('  There are more files than shown.');
}

function nameOf({ path, from }: ChangedFile): string {
  return from === null ? path : `${from} -> ${path}`;
}

function linesOf({ added, removed, cut }: ChangedFile): string {
  const counts = added === null ? (cut ? 'lines unknown' : 'binary') : `+${added} -${removed ?? 0}`;
  return cut ? `${counts}, diff too long` : counts;
}

function printDiff(terminal: Terminal, diff: string): void {
  for (const line of diff.split('\n').slice(0, -1)) {
    // Tabs are harmless, and part of the code.
    const text = line.split('\t').map(plainText).join('\t');
    if (line.startsWith('+')) terminal.out(paint(terminal, 'green', text));
    else if (line.startsWith('-')) terminal.out(paint(terminal, 'red', text));
    else terminal.out(line.startsWith('diff --git ') ? paint(terminal, 'bold', text) : text);
  }
}
