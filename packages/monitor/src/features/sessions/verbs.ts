// svc hooks install | remove | list
import { type CommandUnknownOpts, createArgument } from '@commander-js/extra-typings';
import { openSession } from '../../cli/kit/session.ts';
import { agree, paint, printJson, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { plainText } from '../../cli/kit/text.ts';
import { verb, verbGroup } from '../../cli/kit/verb.ts';
import { Failure } from '../../kernel/failure.ts';
import { thisProcess } from '../../kernel/instance/control.ts';
import { type HookedAgent, hookedAgents } from './hook-event.ts';
import { hookScriptProblem, writeHookScript } from './io/script.ts';
import {
  type Change,
  hooksProblem,
  installCommand,
  planInstall,
  planRemoval,
  readHookSettings,
  writeChange,
} from './io/settings.ts';

export function hooksVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'hooks',
    {
      summary: 'Show agents that you start yourself on the board',
      details:
        'A hook is a command that an agent runs when something happens. The hooks of svc report when a session starts, works, waits for you or ends. They never answer by themselves; with --answer they pass on what a person answers through svc.',
      example: ['svc hooks install claude', 'svc hooks list'],
    },
    [installVerb(terminal), removeVerb(terminal), listVerb(terminal)],
  );
}

const agentArgument = () => createArgument('<agent>').choices(hookedAgents);

function installVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('install', {
    summary: 'Add the hooks of svc to an agent’s settings',
    details: 'Shows the change first. What else is in the settings stays as it is. Safe to run again.',
    example: [
      'svc hooks install claude',
      'svc hooks install codex --yes',
      'svc hooks install claude --answer',
    ],
  })
    .addArgument(agentArgument())
    .option('--answer', 'let people answer its permission requests through svc')
    .option('--yes', 'write the change without asking')
    .action(async (agent, { answer = false, yes }) => {
      const { machine } = openSession(terminal);
      const change = await planInstall(agent, placeOf(terminal), answer);
      if (change.before !== change.after) {
        show(terminal, change);
        if (answer) terminal.out(paint(terminal, 'yellow', RISK));
        const again = `svc hooks install ${agent}${answer ? ' --answer' : ''} --yes`;
        await agree(terminal, yes, 'Write this change?', again);
        await writeHookScript(machine, thisProcess.program);
        await writeChange(change, machine.dataDir);
        terminal.out(`Written: ${plainText(change.file)}`);
      } else {
        await writeHookScript(machine, thisProcess.program);
        terminal.out(`Already installed: ${plainText(change.file)}`);
      }
      terminal.out(nextStep[agent]);
    });
}

const RISK =
  'With --answer, anyone who can run svc as you or open your dashboard can allow what this agent asks for, without seeing its terminal. The input of the tool that it asks for is then sent to svc and kept in its log.';

const nextStep: Readonly<Record<HookedAgent, string>> = {
  claude: 'Sessions that you start from now on appear on the board: svc board',
  codex:
    'Codex runs hooks only after you have trusted them: start codex, enter /hooks and trust those of svc. Then its sessions appear on the board: svc board',
  gemini: 'Sessions that you start from now on appear on the board: svc board',
  copilot: 'Sessions that you start from now on appear on the board: svc board',
};

function removeVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('remove', {
    summary: 'Remove the hooks of svc from an agent’s settings',
    details: 'Shows the change first. Afterwards the settings are as they were, with your own changes since.',
    example: ['svc hooks remove claude', 'svc hooks remove claude --yes'],
  })
    .addArgument(agentArgument())
    .option('--yes', 'write the change without asking')
    .action(async (agent, { yes }) => {
      const change = await planRemoval(agent, placeOf(terminal));
      if (change === null) return terminal.out(`${agent} has no hooks of svc.`);
      show(terminal, change);
      await agree(terminal, yes, 'Write this change?', `svc hooks remove ${agent} --yes`);
      await writeChange(change, openSession(terminal).machine.dataDir);
      terminal.out(`${change.after === null ? 'Removed' : 'Written'}: ${plainText(change.file)}`);
    });
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'List the agents, and whether they have the hooks of svc',
    example: 'svc hooks list',
  })
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const { machine } = openSession(terminal);
      const script = await hookScriptProblem(machine);
      const rows = await Promise.all(hookedAgents.map((agent) => listed(agent, terminal, script)));
      if (json) return printJson(terminal, rows);
      printTable(
        terminal,
        rows.map(({ agent, state, answers, file, problem }) => [
          agent,
          answers ? `${state}, answers` : state,
          plainText(file ?? ''),
          plainText(problem ?? ''),
        ]),
      );
    });
}

async function listed(agent: HookedAgent, terminal: Terminal, script: string | undefined) {
  const settings = await readHookSettings(agent, placeOf(terminal)).catch((error: unknown) => {
    if (error instanceof Failure) return error;
    throw error;
  });
  if (settings instanceof Failure)
    return {
      agent,
      state: 'unknown',
      answers: null,
      file: null,
      problem: `${settings.message} ${settings.remedy ?? ''}`.trim(),
    };
  const found = hooksProblem(settings, script);
  const { answers } = settings;
  const problem = found === undefined ? null : `${found}. Run: ${installCommand(settings)}`;
  const state = settings.events.length === 0 ? 'not installed' : problem === null ? 'installed' : 'outdated';
  return { agent, state, answers, file: settings.file, problem };
}

function placeOf(terminal: Terminal) {
  const { environment, home } = terminal;
  return { dataDir: openSession(terminal).machine.dataDir, home, environment };
}

function show(terminal: Terminal, change: Change): void {
  terminal.out(plainText(change.file));
  for (const line of diffLines(change)) {
    terminal.out(
      paint(terminal, line.startsWith('+') ? 'green' : 'red', line.split('\t').map(plainText).join('\t')),
    );
  }
}

/** Only the changed lines: others may hold secrets. Lines are added, or get a comma, or the reverse. */
function diffLines({ before, after }: Pick<Change, 'before' | 'after'>): string[] {
  const [shorter, longer] = (before ?? '').length < (after ?? '').length ? [before, after] : [after, before];
  const [added, removed] = shorter === before ? ['+', '-'] : ['-', '+'];
  const fewer = linesOf(shorter);
  const lines: string[] = [];
  let at = 0;
  for (const line of linesOf(longer)) {
    const other = fewer[at];
    if (line === `${other},`) lines.push(`${removed} ${other}`);
    if (line !== other) lines.push(`${added} ${line}`);
    if (line === other || line === `${other},`) at += 1;
  }
  for (const line of fewer.slice(at)) lines.push(`${removed} ${line}`);
  return lines;
}

function linesOf(text: string | null): string[] {
  return text === null || text === '' ? [] : text.replace(/\n$/, '').split(/\r?\n/);
}
