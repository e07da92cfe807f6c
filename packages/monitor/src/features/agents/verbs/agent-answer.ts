// svc agent answer: a person's answer to what an agent asks, named without ids
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon, requestedBy } from '../../../cli/kit/daemon.ts';
import type { DaemonClient } from '../../../cli/kit/daemon-client.ts';
import { commandMachine, getTeamBoard, onMachineOption } from '../../../cli/kit/on-machine.ts';
import { paint, printJson, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { collect, verb } from '../../../cli/kit/verb.ts';
import { remedyOnMachine } from '../../../kernel/check/remedy-command.ts';
import { Failure } from '../../../kernel/failure.ts';
import { cutRequest, hookAnswers } from '../request-limit.ts';

const ROUTE = '/api/workers/{ticket}/agent';
type AgentView = Answer<'GET', typeof ROUTE>;
type Request = NonNullable<AgentView['agent']>['open'][number];
type Answered = (typeof answers)[number];

const answers = ['allow_once', 'allow_always', 'reject_once', 'reject_always', 'accept', 'decline'] as const;
/** What people type most. */
const shortAnswers: Readonly<Record<string, Answered>> = { allow: 'allow_once', reject: 'reject_once' };

export function answerVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('answer', {
    summary: "Answer an agent's request for a permission or input",
    details: `Answers: allow, reject, ${answers.slice(1).join(', ')}, the agent's own name of an option, or the text for a question with one field. Without an answer, shows what is asked. An agent that you started yourself is named by its session, and needs: svc hooks install <agent> --answer`,
    example: [
      'svc agent answer ABC-12 allow',
      'svc agent answer ABC-12 "Yes, and accept edits"',
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
    .option('--value <name=value>', 'field of a question; repeatable', collect, [] as string[])
    .option('--confirm', 'confirm an answer that also decides later requests')
    .option('--orchestrator <run>', 'agent of this run (default: the newest)')
    .option(...onMachineOption)
    .option('--json', 'print JSON')
    .action(async (ticket, given, { request: named, value, confirm, orchestrator, machine, json }) => {
      if (machine !== undefined) {
        const asked = requestIn(ticket, await openOnMachine(terminal, machine, ticket), named);
        if (given === undefined)
          return json ? printJson(terminal, asked) : printRequest(terminal, asked, ticket, machine);
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
      const { answer, content } = answerIn(request, given, value);
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
                ...(content !== undefined && { content }),
                ...requestedBy(terminal),
              },
            });
      if (json) return printJson(terminal, result);
      terminal.out(`Answered ${result.answered}: ${plainText(request.command ?? request.title)}`);
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

/** An answer as typed: a short form, a kind, the agent's own name of an option, or the text for a question's only field. */
export function answerIn(
  request: Request,
  given: string,
  values: readonly string[],
): { answer: Answered; content?: Record<string, string | number | boolean> } {
  const { kind, options, fields } = request;
  const named = options.find(({ name }) => name.toLowerCase() === given.trim().toLowerCase())?.kind;
  const answer = shortAnswers[given] ?? answers.find((one) => one === given) ?? named;
  if (answer !== undefined)
    return values.length === 0 ? { answer } : { answer, content: contentOf(request, values) };
  const [only, ...others] = fields;
  if (kind === 'input' && only !== undefined && others.length === 0 && values.length === 0)
    return { answer: 'accept', content: contentOf(request, [`${only.name}=${given}`]) };
  const names = options.map(({ name }) => `"${name}"`);
  throw new Failure(
    'usage',
    `Unknown answer ${given}.`,
    `Use one of: ${['allow', 'reject', ...names, ...answers].join(', ')}`,
  );
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

/** `machine`: the other machine of the team that it is on. There a question has its answer, which is not shared. */
export function printRequest(terminal: Terminal, request: Request, ticket: string, machine?: string): void {
  const { kind, title, command: asked, paths, options, fields, cut } = request;
  terminal.out(
    paint(
      terminal,
      'yellow',
      `The agent asks ${kind === 'permission' ? 'for permission' : 'a question'}: ${plainText(title)}`,
    ),
  );
  if (asked !== null && asked !== title) terminal.out(`  command: ${plainText(asked)}`);
  for (const path of paths) terminal.out(`  file: ${plainText(path)}`);
  for (const option of options) terminal.out(`  ${option.kind}: ${plainText(option.name)}`);
  for (const { name, title: label, choices } of fields)
    terminal.out(
      `  ${plainText(name)}: ${plainText(label)}${choices.length === 0 ? '' : ` (${choices.map(plainText).join(', ')})`}`,
    );
  if (cut === true) terminal.out(`${cutRequest.why} ${cutRequest.fix}`);
  const answer = kind === 'input' ? 'accept --value <name=value>' : cut === true ? 'reject' : 'allow|reject';
  const command = `svc agent answer ${plainText(ticket)}`;
  if (machine === undefined) terminal.out(`Answer: ${command} ${answer}`);
  else if (kind === 'input') terminal.out(`Answer, on ${plainText(machine)}: ${command}`);
  else terminal.out(`Answer: ${remedyOnMachine(`${command} allow (or reject)`, plainText(machine)).text}`);
}
