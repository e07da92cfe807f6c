// svc events counts
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { conditionOptions, pointText, readConditions } from '../event-conditions.ts';
import { needDaemon } from '../need-daemon.ts';
import { printJson, printTable, type Terminal } from '../terminal.ts';
import { utcText } from '../time-text.ts';
import { verb } from '../verb.ts';

const WIDTH = 40;

export function countsVerb(terminal: Terminal): CommandUnknownOpts {
  const counts = verb('counts', {
    summary: 'How many lines there are over time, by family of topic; from the index',
    example: ['svc events counts --since 24h', 'svc events counts --ticket ABC-12 --since 7d --buckets 7'],
    route: 'GET /api/events/counts',
  })
    .option('--buckets <number>', 'how many parts, from 1 to 200', '24')
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
    terminal.out(`${answer.total} lines`);
    if (!answer.complete) terminal.err('warning: counting took too long; the oldest parts are short.');
  });
}
