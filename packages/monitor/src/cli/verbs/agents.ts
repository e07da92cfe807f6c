// svc agents list | check
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { locateAgent } from '../../orchestrate/agents/check-agent.ts';
import { onOneLine } from '../checks/print.ts';
import { registeredFolder } from '../checks/registration.ts';
import { needDaemon, openSession } from '../session.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../terminal.ts';
import { plainText } from '../text.ts';
import { verb, verbGroup } from '../verb.ts';

type AgentCheck = Answer<'POST', '/api/agents/check'>;
type Listed = Answer<'GET', '/api/agents'>['agents'][number];

export function agentsVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'agents',
    {
      summary: 'List and check the agents that a run can use',
      example: ['svc agents list', 'svc agents check codex'],
    },
    [listVerb(terminal), checkVerb(terminal)],
  );
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'List the agents, and which of them are installed',
    details: "Installed means: the daemon finds the agent's program in its PATH.",
    example: 'svc agents list',
    route: 'GET /api/agents',
  })
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const { agents } = await listed(terminal);
      if (json) return printJson(terminal, agents);
      printTable(terminal, await Promise.all(agents.map((agent) => rowOf(terminal, agent))));
    });
}

/** The daemon has the PATH of the shell that started it; a person may have installed the agent since. */
async function rowOf(terminal: Terminal, agent: Listed): Promise<string[]> {
  const { name, program, mode, install } = agent;
  if (program !== null) return [name, plainText(program), plainText(mode === null ? '' : `mode ${mode}`)];
  const own = await locateAgent({ ...agent, env: {} }, { PATH: terminal.environment['PATH'] ?? '' });
  if (own === null) return [name, 'not installed', plainText(install ?? '')];
  return [
    name,
    `only in your PATH (${plainText(own)})`,
    'the daemon was started without it: svc monitor restart',
  ];
}

async function listed(terminal: Terminal) {
  const daemon = await needDaemon(terminal);
  const { folder } = (await openSession(terminal).load()).files.project;
  const project = folder === undefined ? undefined : await registeredFolder(terminal);
  return { daemon, project, ...(await daemon.get('/api/agents', { query: { project } })) };
}

function checkVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('check', {
    summary: 'Check an agent: version, capabilities, modes, login',
    details:
      'Starts the agent in an empty folder, asks what it can do and ends it. Without a name, checks all that are installed.',
    example: ['svc agents check', 'svc agents check codex'],
    route: 'POST /api/agents/check',
  })
    .argument('[name]')
    .option('--json', 'print JSON')
    .action(async (name, { json }) => {
      const { daemon, project, agents } = await listed(terminal);
      const check = (one: string) => daemon.post('/api/agents/check', { body: { project, name: one } });
      if (name !== undefined) {
        const checked = await check(name);
        if (json) printJson(terminal, checked);
        else printCheck(terminal, checked);
        if (!checked.ok) throw new AnswerIsNo();
        return;
      }
      const all: (AgentCheck | Listed)[] = [];
      for (const agent of agents) {
        const checked = agent.program === null ? agent : await check(agent.name);
        all.push(checked);
        if (!json) printCheck(terminal, checked);
      }
      if (json) printJson(terminal, all);
    });
}

function printCheck(terminal: Terminal, agent: AgentCheck | Listed): void {
  if (!('ok' in agent) || agent.program === null) {
    const fix = 'ok' in agent ? agent.remedy : agent.install && `Run: ${agent.install}`;
    terminal.out(`${agent.name}: ${paint(terminal, 'dim', 'not installed')}`);
    if (fix !== null) terminal.out(`  ${onOneLine(fix)}`);
    return;
  }
  const { name, ok, program, version, protocolVersion, capabilities, modes, models, mode, problem, remedy } =
    agent;
  const { loginNeeded } = agent;
  terminal.out(`${name}: ${ok ? paint(terminal, 'green', 'usable') : paint(terminal, 'red', 'not usable')}`);
  if (problem !== null) terminal.out(`  ${onOneLine(problem)}`);
  if (remedy !== null) terminal.out(`  ${onOneLine(remedy)}`);
  const rows = [
    ['program', program],
    ['version', version ?? 'unknown'],
    ['protocol', protocolVersion === null ? 'unknown' : `version ${protocolVersion}`],
    ['login', loginNeeded === null ? 'unknown until it gets work' : 'needed'],
    ['can', capabilities.join(', ') || 'none of resume, load, close, steer'],
    ['modes', modes.join(', ') || 'unknown'],
    ['mode', mode ?? 'its own default'],
    ['models', models.join(', ') || 'unknown'],
  ];
  printTable(
    terminal,
    rows.map(([what = '', value = '']) => [`  ${what}`, onOneLine(value)]),
  );
}
