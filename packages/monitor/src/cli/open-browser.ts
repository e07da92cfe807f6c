// Shows an address in the person's browser, where there is one. Where there is none nothing happens: the address
// has been printed.
import { type ChildProcess, spawn } from 'node:child_process';

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
