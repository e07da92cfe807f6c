// `svc agent options | set`: what a running agent offers, and another mode or model for it.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon, requestedBy } from '../../../cli/kit/daemon.ts';
import { ofWorker, routeVerb } from '../../../cli/kit/route-verb.ts';
import { paint, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';

type Options = Answer<'GET', '/api/workers/{ticket}/agent/options'>;
const ROUTE = '/api/workers/{ticket}/agent/options';

export const optionsVerb = routeVerb('options', `GET ${ROUTE}`, {
  summary: 'Show the modes, models and commands of an agent',
  details: 'Of a running agent. Send a command as a message: svc agent send ABC-12 "/review 7"',
  example: 'svc agent options ABC-12',
  fields: ofWorker,
  print: printOptions,
});

export function setVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('set', {
    summary: 'Set the mode or the model of an agent',
    details: 'Prints what the agent confirmed. It lasts until the process of the agent ends.',
    example: ['svc agent set ABC-12 --model large', 'svc agent set ABC-12 --mode plan --confirm'],
    route: 'POST /api/workers/:ticket/agent/options',
  })
    .argument('<ticket>')
    .option('--mode <mode>', 'the permission mode; svc agent options shows them')
    .option('--model <model>', 'the model')
    .option('--confirm', 'also a mode in which the agent may not ask')
    .option('--key <key>', 'change only once for the same key')
    .option('--orchestrator <run>', 'agent of this run (default: the newest)')
    .option('--json', 'print JSON')
    .action(async (ticket, { mode, model, confirm, key, orchestrator, json }) => {
      const value = mode ?? model;
      if (value === undefined || (mode !== undefined && model !== undefined))
        throw new Failure(
          'usage',
          'Give either --mode or --model.',
          `See what it offers: svc agent options ${ticket}`,
        );
      const daemon = await needDaemon(terminal);
      const setting = mode === undefined ? 'model' : 'mode';
      const result = await daemon.post(ROUTE, {
        params: { ticket },
        body: { setting, value, confirm, key, orchestrator, ...requestedBy(terminal) },
      });
      if (json) return printJson(terminal, result);
      const shown = `mode ${plainText(result.mode ?? 'unknown')}, model ${plainText(result.model ?? 'unknown')}`;
      terminal.out(
        result.confirmed
          ? `The agent of ${plainText(ticket)} confirmed it: ${shown}.`
          : `Sent, but the agent of ${plainText(ticket)} has not confirmed it yet: ${shown}.`,
      );
    });
}

function printOptions(terminal: Terminal, { mode, modes, model, images, models, commands }: Options): void {
  const list = (title: string, now: string | null, all: readonly (readonly [string, string])[]): void => {
    terminal.out(paint(terminal, 'bold', now === null ? title : `${title}: ${plainText(now)}`));
    if (all.length === 0) terminal.out('  none');
    printTable(
      terminal,
      all.map(([id, text]) => [`  ${plainText(id)}`, plainText(text)]),
    );
  };
  list(
    'Mode',
    mode ?? 'unknown',
    modes.map(({ id, name, confirm }) => [id, confirm ? `${name} (needs --confirm)` : name]),
  );
  list(
    'Model',
    model ?? 'unknown',
    models.map(({ id, name }) => [id, name]),
  );
  terminal.out(`${paint(terminal, 'bold', 'Images:')} ${images ? 'svc agent send --image' : 'none'}`);
  list(
    'Commands',
    null,
    commands.map(({ name, description, hint }) => [
      `/${name}${hint === null ? '' : ` <${hint}>`}`,
      description.split('\n', 1)[0] ?? '',
    ]),
  );
}
