// svc events reindex: builds the index anew from the log's files, in the daemon when it runs.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { reindexAlone } from '../../daemon/reindex-alone.ts';
import { connectDaemon } from '../daemon-client.ts';
import { openSession } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

export function reindexVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('reindex', {
    summary: 'Build the index anew from the files of the log',
    example: 'svc events reindex',
    route: 'POST /api/events/reindex',
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { machine } = openSession(terminal);
      const daemon = await connectDaemon(machine);
      const answer = daemon
        ? await daemon.post('/api/events/reindex')
        : await reindexAlone(machine, terminal.now);
      if (options.json) return printJson(terminal, answer);
      const { lines, seconds } = answer;
      terminal.out(`${lines} lines indexed in ${seconds} s`);
    });
}
