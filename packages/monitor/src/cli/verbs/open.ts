// svc open: the dashboard in the person's browser. Where the daemon asks for a token, the address has a code behind its
// `#`, which no server and no Referer sees. The code reaches the browser in a page of mode 600: the words of a command
// can be read by every user.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import { needDaemon, openSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

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
      show(daemon.url, process.platform, terminal.environment);
      return;
    }
    const { code } = await daemon.post('/api/access/code');
    const address = `${daemon.url}/#enter=${code}`;
    const page = join(openSession(terminal).machine.dataDir, 'open.html');
    await writeFileAtomically(page, redirectTo(address), { mode: 0o600 });
    terminal.out(`${address}\nIt opens the dashboard once, within a minute.`);
    show(pathToFileURL(page).href, process.platform, terminal.environment);
  });
}

/** Nothing in the address has a meaning in HTML. */
function redirectTo(address: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${address}"><title>svc</title>\n`;
}

// Shows an address in the person's browser, where there is one. Where there is none nothing happens: the address
// has been printed.

export function openBrowser(
  url: string,
  platform: NodeJS.Platform,
  environment: NodeJS.ProcessEnv,
): ChildProcess | undefined {
  const command = openerOf(platform, environment);
  if (command === undefined) return undefined;
  const opener = spawn(command, [url], { stdio: 'ignore', detached: true, env: environment });
  // It is not installed.
  opener.on('error', () => undefined);
  opener.unref();
  return opener;
}

/** Undefined where no window could be opened. */
export function openerOf(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string | undefined {
  if (platform === 'darwin') return 'open';
  const { DISPLAY = '', WAYLAND_DISPLAY = '' } = environment;
  return DISPLAY === '' && WAYLAND_DISPLAY === '' ? undefined : 'xdg-open';
}
