// svc agents list | check
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { connectDaemon } from '../../../cli/kit/daemon-client.ts';
import { onOneLine } from '../../../cli/kit/print.ts';
import { registeredFolder } from '../../../cli/kit/registration.ts';
import { openSession } from '../../../cli/kit/session.ts';
import {
  AnswerIsNo,
  Interrupted,
  paint,
  printJson,
  printTable,
  type Terminal,
} from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { locationVariables } from '../../../kernel/config/environment.ts';
import { feedSecretVariables, withoutSecrets } from '../../agents/agent-environment.ts';
import type { PathOf } from '../../agents/choice.ts';
import { locateAgent } from '../../agents/io/check-agent.ts';
import { createAgentAsker, createProjectAgents } from '../../agents/io/project-agents.ts';
import { workerPrompt } from '../../skills/io/skills.ts';
import { timingsOf } from '../io/timings.ts';

type AgentCheck = Answer<'POST', '/api/agents/check'>;
type AgentLogin = AgentCheck['login'];
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
    summary: 'List the agents, which are installed, and their logins',
    details:
      "Installed means: the daemon finds the agent's program in its PATH; without a daemon, your own PATH is used. No agent is started for it: svc agents check asks one for its login.",
    example: 'svc agents list',
    route: 'GET /api/agents',
  })
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const { agents, pathOf } = await openAgents(terminal);
      if (json) return printJson(terminal, agents);
      printTable(terminal, await Promise.all(agents.map((agent) => rowOf(terminal, agent, pathOf))));
    });
}

/** The daemon has the PATH of the shell that started it; a person may have installed the agent since. */
async function rowOf(terminal: Terminal, agent: Listed, pathOf: PathOf): Promise<string[]> {
  const { name, program, mode, install, login } = agent;
  if (program !== null)
    return [name, plainText(program), plainText(mode === null ? '' : `mode ${mode}`), loginText(login)];
  const own =
    pathOf === 'shell'
      ? null
      : await locateAgent({ ...agent, env: {} }, { PATH: terminal.environment['PATH'] ?? '' });
  if (own === null) return [name, 'not installed', plainText(install ?? '')];
  return [
    name,
    `only in your PATH (${plainText(own)})`,
    'the daemon was started without it: svc monitor restart',
  ];
}

function loginText({ state, why }: AgentLogin): string {
  return plainText(`login ${state}: ${why}`);
}

/** The agents as the daemon sees them, or, where none answers, as they are for the person. */
async function openAgents(terminal: Terminal) {
  const session = openSession(terminal);
  const daemon = await connectDaemon(session.machine);
  const { usable: config, files } = await session.load();
  const { folder } = files.project;
  if (daemon !== undefined) {
    const project = folder === undefined ? undefined : await registeredFolder(terminal);
    return {
      ...(await daemon.get('/api/agents', { query: { project } })),
      pathOf: 'daemon' as const,
      check: (name: string) => daemon.post('/api/agents/check', { body: { project, name } }),
    };
  }
  terminal.err('No daemon answers: these are the agents in the PATH of this shell.');
  const { list, check } = createProjectAgents({
    config,
    folder,
    home: terminal.home,
    environment: () => withoutSecrets(terminal.environment, feedSecretVariables(config)),
    locations: locationVariables(session.machine),
    pathOf: 'shell',
    answerMs: timingsOf(session.machine).agentAnswerSec * 1_000,
    asker: createAgentAsker(terminal.now),
    workerPrompt,
    signal: terminal.interrupted,
  });
  return { agents: await list(), pathOf: 'shell' as const, check };
}

function checkVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('check', {
    summary: 'Check an agent: version, capabilities, modes, login',
    details:
      'Starts the agent in an empty folder, asks what it can do and ends it. Without a name, checks all that are installed. A missing login is reported with its fix; whether the provider accepts a key shows only when the agent gets work.',
    example: ['svc agents check', 'svc agents check codex'],
    route: 'POST /api/agents/check',
  })
    .argument('[name]')
    .option('--json', 'print JSON')
    .action(async (name, { json }) => {
      const { agents, check } = await openAgents(terminal);
      const ask = async (one: string) => {
        const checked = await check(one);
        if (terminal.interrupted.aborted) throw new Interrupted();
        return checked;
      };
      if (name !== undefined) {
        const checked = await ask(name);
        if (json) printJson(terminal, checked);
        else printCheck(terminal, checked);
        if (!checked.ok) throw new AnswerIsNo();
        return;
      }
      const all: (AgentCheck | Listed)[] = [];
      for (const agent of agents) {
        const checked = agent.program === null ? agent : await ask(agent.name);
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
  const { login } = agent;
  terminal.out(`${name}: ${ok ? paint(terminal, 'green', 'usable') : paint(terminal, 'red', 'not usable')}`);
  if (problem !== null) terminal.out(`  ${onOneLine(problem)}`);
  if (remedy !== null) terminal.out(`  ${onOneLine(remedy)}`);
  const rows = [
    ['program', program],
    ['version', version ?? 'unknown'],
    ['protocol', protocolVersion === null ? 'unknown' : `version ${protocolVersion}`],
    ['login', `${login.state}: ${login.why}`],
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
