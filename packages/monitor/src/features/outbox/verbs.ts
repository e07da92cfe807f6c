// svc outbox | svc outbox retry <key>
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon } from '../../cli/kit/daemon.ts';
import { routeVerb } from '../../cli/kit/route-verb.ts';
import { printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { ageText, plainText } from '../../cli/kit/text.ts';
import { verb } from '../../cli/kit/verb.ts';

type OutboxEffect = Answer<'GET', '/api/outbox'>['effects'][number];

const SHOWN = 20;

const list = routeVerb('outbox', 'GET /api/outbox', {
  summary: 'Show effects that are pending, retrying or given up',
  example: ['svc outbox', 'svc outbox retry 12:move-ticket:ABC-1'],
  print: (terminal, { figures, effects }) => {
    terminal.out(
      `${figures.pending} pending, ${figures.retryingCount} retrying, ${figures.givenUp} given up`,
    );
    if (figures.failing !== null) terminal.out(`The outbox is not working: ${plainText(figures.failing)}`);
    const open = effects.filter(({ state }) => state !== 'done');
    const rows = [...open, ...effects.filter(({ state }) => state === 'done')].slice(0, SHOWN);
    printTable(
      terminal,
      rows.map((row) => effectRow(row, terminal.now())),
    );
  },
});

export function outboxVerbs(terminal: Terminal): CommandUnknownOpts {
  return list(terminal).addCommand(
    verb('retry', {
      summary: 'Retry an effect that was given up',
      example: 'svc outbox retry 12:move-ticket:ABC-1',
      route: 'POST /api/outbox/retry',
    })
      .argument('<key>')
      .action(async (key) => {
        await (await needDaemon(terminal)).post('/api/outbox/retry', { body: { key } });
        terminal.out(`${plainText(key)} will be retried. Check the result: svc outbox`);
      }),
  );
}

function effectRow(
  { key, state, attempts, lastError, outcome, createdAt }: OutboxEffect,
  now: Date,
): string[] {
  const result = state === 'done' ? outcome : lastError;
  return [
    state,
    plainText(key),
    ageText(new Date(createdAt).toISOString(), now),
    attempts > 1 ? `${attempts} attempts` : '',
    plainText(result ?? ''),
  ];
}
