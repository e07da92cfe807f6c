// svc monitor install | uninstall
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { isInteractive, meansYes } from '@svc/core';
import type { Host } from '../../daemon/control-host.ts';
import { stopDaemon } from '../../daemon/control-stop.ts';
import { waitForDaemon } from '../../daemon/status.ts';
import { Failure } from '../../errors.ts';
import { factsFor, installService, uninstallService } from '../service/install.ts';
import type { ServiceManager } from '../service/manager.ts';
import { managerFor, thisMachine } from '../service/this-machine.ts';
import { openSession, type Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

const ANSWER_WITHIN_MS = 30_000;

/** By these alone gh is logged in, or not; a service does not have the shell's. */
const shellTokens = ['GH_TOKEN', 'GITHUB_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];

export function installVerb(terminal: Terminal, host: Host, place = thisMachine): CommandUnknownOpts {
  return verb('install', {
    summary: 'Let systemd or launchd run the daemon: from now on, at every login, and after a crash',
    example: ['svc monitor install', 'svc monitor install --linger', 'svc monitor install --print'],
  })
    .option('--print', 'show the file, and install nothing')
    .option('--linger', 'also after log-out and before login: loginctl enable-linger (systemd)')
    .addHelpText(
      'after',
      '\nRun it again after an upgrade that moved node or svc. Secrets are read from the files of mode 600, never from the shell.\nExit codes: 0 installed and running, 1 the file there is not ours, 6 the service manager refused',
    )
    .action(async (options) => {
      const session = openSession(terminal);
      const machine = place();
      const manager = managerFor(terminal, session, machine);
      const { PATH: path } = terminal.environment;
      const facts = factsFor(host.program, session.machine, { path, platform: machine.platform });
      if (options.print) return terminal.out(manager.contentFor(facts).trimEnd());
      const stopOther = () => stopByHand(terminal, host, session);
      const { changed, wasActive } = await installService(manager, facts, stopOther);
      terminal.out(
        `${changed ? (wasActive ? 'Updated' : 'Installed') : 'Already installed'}: ${manager.file}`,
      );
      terminal.out(await answering(terminal, session, manager));
      warnOfShell(terminal, host.program);
      await keepAfterLogout(terminal, manager, options.linger === true);
    });
}

export function uninstallVerb(terminal: Terminal, place = thisMachine): CommandUnknownOpts {
  return verb('uninstall', {
    summary: 'Stop the daemon that systemd or launchd runs, and remove the service; all data stays',
    example: 'svc monitor uninstall',
  }).action(async () => {
    const manager = managerFor(terminal, openSession(terminal), place());
    const removed = await uninstallService(manager);
    terminal.out(removed ? `Stopped and removed: ${manager.file}` : 'Not installed.');
    if (removed && (await manager.lingers()) === true)
      terminal.out('Your other services still run after log-out. If none needs it: loginctl disable-linger');
  });
}

async function stopByHand(terminal: Terminal, host: Host, { machine }: Session): Promise<void> {
  const pid = await stopDaemon({
    dataDir: machine.dataDir,
    signal: host.signal,
    interrupted: terminal.interrupted,
  });
  if (pid !== undefined) terminal.out(`Stopped the daemon that was started by hand: pid ${pid}`);
}

async function answering(
  terminal: Terminal,
  { machine }: Session,
  { logsCommand }: ServiceManager,
): Promise<string> {
  const found = await waitForDaemon(machine.dataDir, ({ state }) => state === 'running', {
    patienceMs: ANSWER_WITHIN_MS,
    interrupted: terminal.interrupted,
  });
  if (found.state === 'running') return `Running: pid ${found.daemon.pid}, ${found.daemon.url}`;
  throw new Failure(
    'start-failed',
    `The service is installed, but its daemon does not answer (${found.state}).`,
    `See why: ${logsCommand}; svc monitor logs`,
  );
}

function warnOfShell({ environment, err }: Terminal, program: readonly string[]): void {
  const set = shellTokens.filter((name) => (environment[name] ?? '') !== '');
  if (set.length > 0)
    err(
      `warning: ${set.join(', ')} is set in this shell alone; the service has only the login of gh. Run: gh auth login -s admin:repo_hook`,
    );
  if (program.some((word) => word.includes('/_npx/')))
    err(
      'warning: this svc is in the cache of npx, which may go at any time. Install it, and run this again: npm install --global svc',
    );
}

/** systemd ends a person's services when they log out, unless they linger. */
async function keepAfterLogout(terminal: Terminal, manager: ServiceManager, wanted: boolean): Promise<void> {
  if ((await manager.lingers()) !== false) return;
  const autonomous = terminal.environment['SVC_AUTONOMOUS'];
  const canAsk = isInteractive({ inputIsTerminal: terminal.inputIsTerminal, autonomous });
  const isWanted =
    wanted ||
    (canAsk &&
      meansYes(await terminal.ask('Keep it running after log-out (loginctl enable-linger)? [Y/n] ')));
  if (!isWanted) {
    terminal.out('It ends when you log out. To keep it running, also from boot on: loginctl enable-linger');
    return;
  }
  await manager.linger();
  terminal.out('It goes on after log-out, and starts with the machine (loginctl enable-linger).');
}
