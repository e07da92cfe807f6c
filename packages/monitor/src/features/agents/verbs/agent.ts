// svc agent show | follow | answer | send | stop
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon, requestedBy } from '../../../cli/kit/daemon.ts';
import { markdownLines } from '../../../cli/kit/markdown-text.ts';
import { ofWorker, routeVerb } from '../../../cli/kit/route-verb.ts';
import { AnswerIsNo, paint, type Terminal } from '../../../cli/kit/terminal.ts';
import { ageText, plainText, utcText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { inLine } from '../../../kernel/board/label.ts';
import { Failure } from '../../../kernel/failure.ts';
import { agentLabel } from '../agent-label.ts';
import { costText } from '../cost.ts';
import { imageWords } from '../images.ts';
import { answerWords, planStatusWords, toolStatusWords, turnWords } from '../item-words.ts';
import { limitText, pausedBy, suspendedText } from '../limits.ts';
import { answerVerb, printRequest } from './agent-answer.ts';
import { changesVerb } from './agent-changes.ts';
import { optionsVerb, setVerb } from './agent-options.ts';
import { sendVerb } from './agent-send.ts';

type AgentView = Answer<'GET', '/api/workers/{ticket}/agent'>;
type Item = AgentView['items'][number];

const ROUTE = '/api/workers/{ticket}/agent';
const SHOWN_ITEMS = 20;
const SHOWN_LINES = 20;

export function agentVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'agent',
    {
      summary: "Show what a ticket's agent does, answer it, steer it",
      example: ['svc agent show ABC-12', 'svc agent answer ABC-12 allow'],
    },
    [
      showVerb(terminal),
      followVerb(terminal),
      answerVerb(terminal),
      sendVerb(terminal),
      optionsVerb(terminal),
      setVerb(terminal),
      stopVerb(terminal),
      changesVerb(terminal),
    ],
  );
}

const showVerb = routeVerb('show', `GET ${ROUTE}`, {
  summary: 'Show what an agent is doing and what it asks for',
  example: ['svc agent show ABC-12', 'svc agent show ABC-12 --limit 100'],
  fields: {
    ...ofWorker,
    attempt: ['--attempt <number>', 'conversation of this attempt (default: the newest)'],
  },
  unsent: { limit: ['--limit <number>', 'show the newest <number> items', String(SHOWN_ITEMS)] },
  print: (terminal, view, { limit }) => {
    printAgent(terminal, view, Number(limit) || SHOWN_ITEMS);
    if (view.agent === null) throw new AnswerIsNo();
  },
});

function followVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('follow', {
    summary: 'Show what an agent does and asks, as it happens',
    details: 'Until Ctrl-C. It continues after a restart of the daemon or of the agent.',
    example: 'svc agent follow ABC-12',
    route: 'GET /api/workers/:ticket/agent',
  })
    .argument('<ticket>')
    .option('--orchestrator <run>', 'agent of this run (default: the newest)')
    .action(async (ticket, { orchestrator }) => {
      const print = createFollower(terminal);
      let known: { after: number; instanceId: string } | undefined;
      let isLost = false;
      while (!terminal.interrupted.aborted) {
        try {
          const daemon = await needDaemon(terminal);
          const query = { orchestrator, ...known };
          const view = await daemon.get(ROUTE, { params: { ticket }, query });
          known = { after: view.rev, instanceId: view.instanceId };
          print(view);
          isLost = false;
        } catch (error) {
          const isGone = error instanceof Failure && lostDaemon.has(error.code);
          if (!isGone || known === undefined) throw error;
          if (!isLost)
            terminal.err('The daemon does not answer. Waiting for it; start it: svc monitor start');
          isLost = true;
        }
        await sleep(FOLLOW_EVERY_MS, undefined, { signal: terminal.interrupted }).catch(() => undefined);
      }
    });
}

const FOLLOW_EVERY_MS = 500;
const lostDaemon: ReadonlySet<string> = new Set(['daemon-needed', 'not-answering', 'state-not-ready']);

/** Prints each item once, and a message line by line while the agent writes it. */
function createFollower(terminal: Terminal): (view: AgentView) => void {
  const shown = new Map<string, string>();
  const asked = new Set<string>();
  /** The start of a line that is not complete yet. */
  let rest = '';
  const endLine = (): void => {
    if (rest !== '') terminal.out(plainText(rest));
    rest = '';
  };
  return ({ ticket, agent, attempt, items }) => {
    if (agent === null) return;
    for (const item of shown.size === 0 ? items.slice(-SHOWN_ITEMS) : items) {
      // The items' attempt, not the agent's: just after a new start, the board is a moment behind.
      const key = `${attempt} ${item.id}`;
      const text = item.kind === 'message' ? item.text : JSON.stringify({ ...item, rev: 0 });
      const before = shown.get(key) ?? '';
      if (text === before) continue;
      shown.set(key, text);
      if (before === '' || item.kind !== 'message') endLine();
      if (item.kind !== 'message') printItem(terminal, item);
      else {
        const lines = (rest + text.slice(before.length)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) terminal.out(plainText(line));
      }
    }
    if (agent.state !== 'running') endLine();
    for (const request of agent.open) {
      const key = `${agent.attempt} ${request.request}`;
      if (!asked.has(key)) printRequest(terminal, request, ticket);
      asked.add(key);
    }
  };
}

const stopVerb = routeVerb('stop', `POST ${ROUTE}/stop`, {
  summary: 'Stop what an agent is doing; it stays alive for messages',
  example: 'svc agent stop ABC-12',
  fields: ofWorker,
  acts: true,
  print: (terminal, _, { ticket }) =>
    terminal.out(`Stopped the turn of ${plainText(ticket ?? '')}. Its open requests are cancelled.`),
});

export function printAgent(
  terminal: Terminal,
  { agent, ticket, attempt, cost, waiting, items, journal }: AgentView,
  limit: number,
): void {
  if (agent === null) {
    terminal.err(`No agent of ${plainText(ticket)} was started yet. See why: svc why ${plainText(ticket)}`);
    return;
  }
  const { name, version, protocol, reason, since, mode, model } = agent;
  terminal.out(`${plainText(name)} ${plainText(version ?? '')}`.trimEnd());
  if (!protocol) terminal.out(`Runs as a command line: ${plainText(reason ?? 'unknown')}`);
  if (attempt !== null && attempt !== agent.attempt) {
    terminal.out(`Attempt ${attempt}; the newest is ${agent.attempt}.`);
    if (items.length === 0) terminal.out(`svc has no conversation of attempt ${attempt}.`);
    for (const item of items.slice(-limit)) printItem(terminal, item);
    return;
  }
  const pause = pausedBy(agent);
  terminal.out(
    `State: ${inLine(agentLabel(agent, utcText))}, since ${ageText(pause?.at ?? since, terminal.now())}`,
  );
  if (agent.suspended) terminal.out(`Process: ${suspendedText(agent.suspended)}`);
  if (pause !== null) terminal.out(paint(terminal, 'yellow', plainText(limitText(pause))));
  const known = [
    ...(mode === null ? [] : [`mode ${plainText(mode)}`]),
    ...(model === null ? [] : [`model ${plainText(model)}`]),
    ...usageTexts(agent),
  ];
  if (known.length > 0) terminal.out(known.join(', '));
  terminal.out(`Cost of the ticket: ${costText(cost)}`);
  if (agent.problem !== null && pause === null)
    terminal.out(paint(terminal, 'red', `Problem: ${plainText(agent.problem)}`));
  for (const item of items.slice(-limit)) printItem(terminal, item);
  for (const text of waiting) terminal.out(paint(terminal, 'dim', `waiting to be sent: ${plainText(text)}`));
  for (const request of agent.open) printRequest(terminal, request, ticket);
  if (journal !== null) terminal.out(paint(terminal, 'dim', `Journal: ${plainText(journal)}`));
}

/** What the agent has reported of it. */
function usageTexts({ tokens, cost, context }: NonNullable<AgentView['agent']>): string[] {
  return [
    ...(context === null ? [] : [`context ${context.used} of ${context.size} tokens`]),
    ...(tokens === null ? [] : [`${tokens.input} tokens in, ${tokens.output} out`]),
    ...(cost === null ? [] : [`cost ${cost.amount.toFixed(2)} ${plainText(cost.currency)}`]),
  ];
}

function printItem(terminal: Terminal, item: Item): void {
  const me = requestedBy(terminal).by ?? '';
  switch (item.kind) {
    case 'prompt':
      printText(terminal, 'cyan', `> ${item.by === null ? '' : `${item.by}: `}${item.text}`);
      for (const image of item.images ?? [])
        printText(terminal, 'dim', `with the image ${imageWords(image)}`);
      return;
    case 'message':
      return printText(terminal, null, markdownLines(item.text).join('\n'));
    case 'thought':
      return;
    case 'tool': {
      const exit = item.exitCode === null ? '' : `, exit code ${item.exitCode}`;
      return printText(
        terminal,
        'dim',
        `${toolStatusWords[item.status]}: ${item.command ?? item.title}${exit}`,
      );
    }
    case 'plan':
      return printText(
        terminal,
        'dim',
        item.entries.map(({ status, content }) => `${planStatusWords(status)}: ${content}`).join('\n'),
      );
    case 'request': {
      const words = answerWords(item, me);
      return words === null ? undefined : printText(terminal, 'dim', `${item.request.title}. ${words}.`);
    }
    case 'turn': {
      const words = turnWords(item, me);
      return words === null ? undefined : printText(terminal, item.ok ? 'dim' : 'red', words);
    }
  }
}

function printText(terminal: Terminal, colour: 'cyan' | 'dim' | 'red' | null, text: string): void {
  const lines = text.split('\n');
  for (const line of lines.slice(0, SHOWN_LINES))
    terminal.out(colour === null ? plainText(line) : paint(terminal, colour, plainText(line)));
  if (lines.length > SHOWN_LINES)
    terminal.out(paint(terminal, 'dim', `… ${lines.length - SHOWN_LINES} more lines`));
}
