// svc run: a task without a ticket.
import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { isFolder } from '@svc/lib/paths';
import { needDaemon, requestedBy } from '../../cli/kit/daemon.ts';
import type { DaemonClient } from '../../cli/kit/daemon-client.ts';
import { onOneLine } from '../../cli/kit/print.ts';
import { registeredFolder } from '../../cli/kit/registration.ts';
import { printJson, type Terminal } from '../../cli/kit/terminal.ts';
import { plainText } from '../../cli/kit/text.ts';
import { verb } from '../../cli/kit/verb.ts';
import { Failure } from '../../kernel/failure.ts';
import {
  baseOption,
  checkOption,
  modelOption,
  modeOption,
  printNotes,
  printPreflight,
} from '../runs/verbs/start-checks.ts';
import { readTask } from './task.ts';

export function runVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('run', {
    summary: 'Start an agent for a task that you describe',
    details:
      'Creates a ticket in the tracker of the project, or a local one, and starts a run for it. The first line is the title; "-" reads the text from standard input. Text that starts with a dash goes after --.',
    example: [
      'svc run "Make the login test pass on slow machines"',
      'svc run --local --agent codex "Update the changelog"',
      'svc run - < task.md',
    ],
    route: 'POST /api/tasks; with --check POST /api/runs/preflight',
  })
    .argument('<text...>', 'what should be done')
    .option('--local', 'keep the ticket here, not in the tracker')
    .option('--repo <project>', 'folder of the project, or its repository as owner/name')
    .option('--agent <name>', 'agent (default: as configured)')
    .option(...modelOption)
    .option(...modeOption)
    .option(...baseOption)
    .option('--key <key>', 'a repeat with the same key is the same task')
    .option(...checkOption)
    .option('--json', 'print JSON')
    .action(async (words, options) => {
      const text = words.length === 1 && words[0] === '-' ? await terminal.readInput() : words.join(' ');
      const read = readTask(text);
      if (!read.ok) throw new Failure('usage', read.problem, read.remedy);
      const daemon = await needDaemon(terminal);
      const { local, repo, json, agent, model, mode, base } = options;
      const folder = repo === undefined ? terminal.folder : await folderNamed(repo, daemon, terminal);
      const project = await registeredFolder({ ...terminal, folder });
      const choice = { agent, model, mode, base };
      if (options.check === true) {
        const body = { project, task: local === true ? ('local' as const) : ('tracker' as const), ...choice };
        return printPreflight(terminal, json, await daemon.post('/api/runs/preflight', { body }));
      }
      const key = options.key ?? crypto.randomUUID();
      const body = { project, text, local: local === true, key, ...choice, ...requestedBy(terminal) };
      const answer = await daemon.post('/api/tasks', { body }).catch((error: unknown) => {
        throw repeatable(error, key);
      });
      if (json) return printJson(terminal, answer);
      printNotes(terminal, answer.notes);
      const { ticket, url, run, title, state, message } = answer;
      const created =
        ticket === null ? null : `${plainText(ticket)}${url === null ? '' : ` (${plainText(url)})`}`;
      if (state === 'pending') {
        terminal.out(
          `${created === null ? 'The task is saved' : `Created ${created}`}, but not started yet: ${onOneLine(message ?? '')}`,
        );
        return terminal.out('svc continues on its own. Follow it: svc outbox');
      }
      terminal.out(`Created ${created}: ${plainText(title)}`);
      terminal.out(`Started ${plainText(run ?? '')}. Follow it: svc agent show ${plainText(ticket ?? '')}`);
    });
}

/** A folder, or the folder of the served project with this repository. */
async function folderNamed(named: string, daemon: DaemonClient, terminal: Terminal): Promise<string> {
  const folder = resolve(terminal.folder, named);
  if (!/^[^/\s]+\/[^/\s]+$/.test(named) || (await isFolder(folder))) return folder;
  const { projects } = await daemon.get('/api/projects');
  const found = projects.filter(({ repo }) => repo?.toLowerCase() === named.toLowerCase());
  const [only, ...others] = found.map((project) => project.folder);
  if (only === undefined)
    throw new Failure(
      'unknown-project',
      `No project that the daemon serves has the repository ${named}, and there is no such folder.`,
      'Set it up: svc init, in its folder. Or name the folder: svc run --repo <folder>',
    );
  if (others.length === 0) return only;
  throw new Failure(
    'unknown-project',
    `Several projects have the repository ${named}: ${[only, ...others].join(', ')}.`,
    'Name the folder: svc run --repo <folder>',
  );
}

/** The daemon may have accepted the task before it ended. */
function repeatable(error: unknown, key: string): unknown {
  const isGone =
    error instanceof Failure && (error.code === 'daemon-needed' || error.code === 'not-answering');
  if (!isGone) return error;
  return new Failure(
    error.code,
    `${error.message} Whether it has accepted the task is not known; if so, it continues when it runs.`,
    `Start it: svc monitor start. Then repeat the same command with --key ${key}: it creates no second ticket`,
  );
}
