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
    .option('--accept-missing', 'accept that lines which are missing from the log are gone')
    .option('--json', 'print JSON')
    .action(async ({ acceptMissing = false, json }) => {
      const { machine } = openSession(terminal);
      const daemon = await connectDaemon(machine);
      const answer = daemon
        ? await daemon.post('/api/events/reindex', { body: { acceptMissing } })
        : await reindexAlone(machine, terminal.now, { acceptMissing });
      if (json) return printJson(terminal, answer);
      const { lines, seconds } = answer;
      terminal.out(`${lines} lines indexed in ${seconds} s`);
    });
}
