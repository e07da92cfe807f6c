// svc open. When the daemon requires a token, the address has a code after its `#`, which no server and no Referer sees.
// The browser gets it from a page of mode 600, because every user can read the arguments of a command.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { system } from '@svc/lib/system';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import { openSession } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';

export function openVerb(terminal: Terminal, show: typeof openBrowser = openBrowser): CommandUnknownOpts {
  return verb('open', {
    summary: 'Open the dashboard in your browser',
    example: 'svc open',
    route: 'GET /api/health, POST /api/access/code',
  }).action(async () => {
    const daemon = await needDaemon(terminal);
    const { access } = await daemon.get('/api/health');
    if (access.by === 'owner') {
      terminal.out(daemon.url);
      show(daemon.url, terminal.environment);
      return;
    }
    const { code } = await daemon.post('/api/access/code');
    const address = `${daemon.url}/#enter=${code}`;
    const page = join(openSession(terminal).machine.dataDir, 'open.html');
    await writeFileAtomically(page, redirectTo(address), { mode: 0o600 });
    terminal.out(`${address}\nThis link works once, within a minute.`);
    show(pathToFileURL(page).href, terminal.environment);
  });
}

/** The address contains no character that is special in HTML. */
function redirectTo(address: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${address}"><title>svc</title>\n`;
}

/** Does nothing without a browser: the address was printed. */
export function openBrowser(url: string, environment: NodeJS.ProcessEnv): ChildProcess | undefined {
  const command = system.openerIn(environment);
  if (command === undefined) return undefined;
  const opener = spawn(command, [url], { stdio: 'ignore', detached: true, env: environment });
  // Not installed.
  opener.on('error', () => undefined);
  opener.unref();
  return opener;
}
