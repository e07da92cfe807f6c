// svc uninstall
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { openSession } from '../../../cli/kit/session.ts';
import {
  AnswerIsNo,
  agree,
  Interrupted,
  paint,
  printJson,
  type Terminal,
} from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';
import { type Host, thisProcess } from '../../../kernel/instance/control.ts';
import { loadProjects } from '../../configure.ts';
import { hooksPart, skillsPart, trustPart } from './agent-settings.ts';
import { codehostPart, relayPart, teamPart, trackerPart } from './feeds.ts';
import { foldersPart } from './folders.ts';
import { notesPart } from './notes.ts';
import { AGAIN, type Item, type Leaving, type Left, type Part, type Saved } from './part.ts';
import { agentsPart, daemonPart } from './processes.ts';
import { worktreesPart } from './worktrees.ts';

const PROGRAM = 'npm uninstall --global svc-monitor';

type Options = { yes?: true; dryRun?: true; json?: true; keepData?: true };

export function uninstallVerb(terminal: Terminal, host: Host = thisProcess): CommandUnknownOpts {
  return verb('uninstall', {
    summary: 'Remove everything that svc has set up, and keep your work',
    details:
      'Shows first what it ends, removes and keeps. Unsaved work of worktrees is kept as bundles beside the data folder. Safe to run again: it continues. The program itself stays until you remove it with npm.\nExit codes: 0 all removed, 1 something is left or was not agreed to',
    example: ['svc uninstall --dry-run', 'svc uninstall', 'svc uninstall --yes --keep-data'],
    route: 'GET /api/team, POST /api/team/leave',
  })
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'show what would be done, and do nothing')
    .option('--keep-data', 'keep the data and the configuration')
    .option('--json', 'print JSON')
    .action((options: Options) => uninstall(terminal, host, options));
}

async function uninstall(terminal: Terminal, host: Host, options: Options): Promise<void> {
  const { json, dryRun, keepData = false } = options;
  refuseAgent(terminal);
  const { parts, folders } = await planParts(terminal, host, keepData);
  const items = [...parts, folders].flatMap((part) => part.items);
  const isNothing = items.every(({ action }) => action === 'keep');
  if (!json) printItems(terminal, items);
  if (dryRun || isNothing) {
    if (json) return printJson(terminal, { dryRun: dryRun === true, items, left: [], saved: [] });
    if (isNothing) terminal.out(`Nothing of svc is left to remove. The program: ${PROGRAM}`);
    return;
  }
  await agree(terminal, options.yes, 'Do this?', `${AGAIN}${keepData ? ' --keep-data' : ''} --yes`);
  const { left, saved } = await act(json ? { ...terminal, out: terminal.err } : terminal, parts, folders);
  if (json) printJson(terminal, { dryRun: false, items, left, saved });
  else printEnd(terminal, left, saved);
  if (left.length > 0) throw new AnswerIsNo();
}

/** An agent of svc would end itself in the middle. */
function refuseAgent({ environment }: Terminal): void {
  if ((environment['SVC_TICKET'] ?? '') === '') return;
  throw new Failure(
    'not-allowed-now',
    'An agent cannot uninstall the svc that started it.',
    `Run it in a terminal of your own: ${AGAIN}`,
  );
}

async function planParts(
  terminal: Terminal,
  host: Host,
  keepData: boolean,
): Promise<{ parts: Part[]; folders: Part }> {
  const session = openSession(terminal);
  const { machine } = session;
  const leaving: Leaving = { terminal, session, keepData, keptFolder: `${machine.dataDir}-kept` };
  const projects = await loadProjects(machine, terminal.environment, terminal.folder);
  const parts = [
    await teamPart(leaving),
    await daemonPart(leaving, host),
    // The worktree of an agent that does not end stays.
    inSequence(await agentsPart(leaving), await worktreesPart(leaving, projects.projects)),
    await hooksPart(leaving),
    await skillsPart(leaving),
    await trustPart(leaving),
    await codehostPart(leaving, projects),
    await trackerPart(leaving, projects),
    await relayPart(leaving, projects),
    await notesPart(leaving, projects.projects),
  ];
  const folders = keepData ? keptFolders(machine) : await foldersPart(leaving);
  return { parts, folders };
}

function inSequence(first: Part, second: Part): Part {
  return {
    items: [...first.items, ...second.items],
    async act(report) {
      const left = await first.act(report);
      return left.length > 0 ? left : second.act(report);
    },
  };
}

function keptFolders({ dataDir, configDir }: { dataDir: string; configDir: string }): Part {
  const items = [dataDir, configDir].map((what): Item => ({ action: 'keep', what, why: '--keep-data' }));
  return { items, act: async () => [] };
}

async function act(
  terminal: Terminal,
  parts: readonly Part[],
  folders: Part,
): Promise<{ left: Left[]; saved: Saved[] }> {
  const left: Left[] = [];
  const saved: Saved[] = [];
  const report = {
    done: (line: string) => terminal.out(line),
    saved: (work: Saved) => void saved.push(work),
    warn: (line: string) => terminal.err(`warning: ${plainText(line)}`),
  };
  for (const part of parts) {
    if (terminal.interrupted.aborted) {
      terminal.err(`Interrupted. Continue: ${AGAIN}`);
      throw new Interrupted();
    }
    left.push(...(await part.act(report)));
  }
  // What another run needs stays until it has succeeded.
  if (left.every(({ again }) => !again)) left.push(...(await folders.act(report)));
  return { left, saved };
}

const colours = { end: 'yellow', remove: 'red', keep: 'green' } as const;

function printItems(terminal: Terminal, items: readonly Item[]): void {
  for (const action of ['end', 'remove', 'keep'] as const)
    for (const { action: own, what, why, command } of items) {
      if (own !== action) continue;
      terminal.out(`${paint(terminal, colours[action], action.padEnd(6))}  ${plainText(what)}`);
      terminal.out(`        ${plainText(why)}`);
      if (command !== undefined) terminal.out(`        To remove it: ${plainText(command)}`);
    }
}

function printEnd(terminal: Terminal, left: readonly Left[], saved: readonly Saved[]): void {
  for (const { what, file, restore } of saved) {
    terminal.out(plainText(`Kept ${what}: ${file}`));
    terminal.out('  To restore it:');
    for (const command of restore) terminal.out(`    ${command}`);
  }
  if (left.length === 0) return terminal.out(`svc is uninstalled. The program: ${PROGRAM}`);
  terminal.err('Not removed:');
  for (const { what, why, command } of left) {
    terminal.err(`  ${paint(terminal, 'red', plainText(what))}: ${plainText(why)}`);
    terminal.err(`    ${plainText(command)}`);
  }
  if (left.some(({ again }) => again))
    terminal.err('The data and the configuration stay until then, because they are needed for it.');
}
