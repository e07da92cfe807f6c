// svc skills install | remove | list
import { join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { agree, paint, printJson, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { counted, plainText } from '../../cli/kit/text.ts';
import { verb, verbGroup } from '../../cli/kit/verb.ts';
import { VERSION } from '../../cli/kit/version.ts';
import { type DoctorFinding, doctorFinding } from '../../kernel/check/finding.ts';
import { Failure } from '../../kernel/failure.ts';
import { type KnownAgent, knownAgents, unknownAgent } from '../agents/choice.ts';
import { locateAgent } from '../agents/io/check-agent.ts';
import {
  installChanges,
  installSkills,
  readInstallation,
  removeSkills,
  type SkillsInstallation,
  shippedSkills,
  writtenFiles,
} from './io/skills.ts';

export function skillsVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'skills',
    {
      summary: 'Install skills: texts that tell agents how to use svc',
      details:
        'Claude Code gets them as the plugin svc-dev, with the worker command /svc-dev:oneshot. All other agents get them in ~/.agents/skills.',
      example: ['svc skills install', 'svc skills list'],
    },
    [installVerb(terminal), removeVerb(terminal), listVerb(terminal)],
  );
}

/** A place for skills, and the agents that look there. */
type Place = { agents: string[]; installation: SkillsInstallation };

const agentOption = ['--agent <name>', 'for this agent (default: those in your PATH)'] as const;

function installVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('install', {
    summary: 'Install or update the skills of your agents',
    details: 'Shows the files first. Never replaces a file that svc did not write, or that was changed.',
    example: ['svc skills install', 'svc skills install --agent codex --yes'],
  })
    .option(...agentOption)
    .option('--yes', 'write the files without asking')
    .action(async ({ agent, yes }) => {
      const places = await placesOf(terminal, agent);
      if (places.length === 0)
        throw new Failure(
          'usage',
          'No agent was found in your PATH.',
          'Install one (svc agents list), or name it: svc skills install --agent claude',
        );
      for (const place of places) refuseForeign(place);
      const changed = places.filter(({ installation }) => !isCurrent(installation));
      for (const { installation } of changed) printChange(terminal, installation);
      if (changed.length > 0) await agree(terminal, yes, 'Write these files?', 'svc skills install --yes');
      for (const { installation } of changed) await installSkills(installation);
      for (const { agents, installation } of places)
        terminal.out(`Installed for ${agents.join(', ')}: ${plainText(installation.folder)}`);
    });
}

function refuseForeign({ installation }: Place): void {
  const { foreign } = installChanges(installation);
  const [first] = foreign;
  if (first === undefined) return;
  throw new Failure(
    'file-unusable',
    `${counted(foreign.length, 'file')} in ${installation.folder} would be replaced, but svc did not write ${foreign.length === 1 ? 'it' : 'them'}, or somebody changed ${foreign.length === 1 ? 'it' : 'them'} since: ${foreign.join(', ')}. Nothing was changed.`,
    `Move it away, then run it again: ${join(installation.folder, first.split('/')[0] ?? '')}`,
  );
}

function printChange(terminal: Terminal, installation: SkillsInstallation): void {
  const { write, remove } = installChanges(installation);
  terminal.out(plainText(installation.folder));
  for (const { path } of write) terminal.out(paint(terminal, 'green', `+ ${plainText(path)}`));
  for (const path of remove) terminal.out(paint(terminal, 'red', `- ${plainText(path)}`));
}

function removeVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('remove', {
    summary: 'Remove the skills that svc installed',
    details: 'Shows the files first. Files that were changed since stay.',
    example: ['svc skills remove', 'svc skills remove --agent claude --yes'],
  })
    .option(...agentOption)
    .option('--yes', 'remove the files without asking')
    .action(async ({ agent, yes }) => {
      const places = (await placesOf(terminal, agent, knownAgents({ agents: {} }))).filter(
        ({ installation }) => installation.installed !== null,
      );
      if (places.length === 0) return terminal.out('No skills of svc are installed.');
      for (const { installation } of places) {
        terminal.out(plainText(installation.folder));
        for (const path of writtenFiles(installation))
          terminal.out(paint(terminal, 'red', `- ${plainText(path)}`));
      }
      await agree(terminal, yes, 'Remove these files?', 'svc skills remove --yes');
      for (const { installation } of places) {
        await removeSkills(installation);
        const kept = installation.files.filter(({ state }) => state === 'foreign');
        for (const { path } of kept)
          terminal.out(`Kept, because it was changed: ${plainText(join(installation.folder, path))}`);
        terminal.out(`Removed from ${plainText(installation.folder)}`);
      }
    });
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'List the skills, and for which agents they are installed',
    example: 'svc skills list',
  })
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const skills = await shippedSkills();
      const places = await placesOf(terminal, undefined, knownAgents({ agents: {} }));
      const rows = places.map(({ agents, installation }) => ({
        agents,
        folder: installation.folder,
        installed: installation.installed,
        state: stateOf(installation),
      }));
      if (json) return printJson(terminal, { skills, places: rows });
      terminal.out(`Skills: ${skills.join(', ')}`);
      printTable(
        terminal,
        rows.map(({ agents, state, folder }) => [
          agents.join(', '),
          state,
          plainText(folder),
          state === 'installed' ? '' : `svc skills install --agent ${agents[0]}`,
        ]),
      );
    });
}

/** For the doctor: skills of another version of svc. */
export async function checkSkills(terminal: Terminal): Promise<DoctorFinding[]> {
  const places = await placesOf(terminal, undefined, knownAgents({ agents: {} }));
  return places
    .filter(({ installation }) => stateOf(installation) === 'outdated')
    .map(({ agents, installation: { installed, version, folder } }) =>
      doctorFinding('version', 'warning', `the skills of ${agents.join(', ')} are not those of this svc`, {
        evidence: `${folder}: version ${installed}, this svc: ${version}`,
        remedy: `Run: svc skills install --agent ${agents[0]}`,
      }),
    );
}

function stateOf(installation: SkillsInstallation): 'installed' | 'not installed' | 'outdated' | 'changed' {
  if (installation.installed === null) return 'not installed';
  if (installation.files.some(({ state, wanted }) => state === 'foreign' && wanted !== undefined))
    return 'changed';
  return isCurrent(installation) ? 'installed' : 'outdated';
}

function isCurrent(installation: SkillsInstallation): boolean {
  const { write, remove } = installChanges(installation);
  return installation.installed === installation.version && write.length === 0 && remove.length === 0;
}

/** The places of the named agent, or of all that are considered; by default those that are in the PATH. */
export async function placesOf(
  terminal: Terminal,
  named: string | undefined,
  considered?: readonly KnownAgent[],
): Promise<Place[]> {
  const all = knownAgents({ agents: {} });
  if (named !== undefined && !all.some(({ name }) => name === named)) {
    const { problem } = unknownAgent(named, all);
    throw new Failure('usage', problem, `Choose one of: ${all.map(({ name }) => name).join(', ')}`);
  }
  const agents =
    named === undefined
      ? (considered ?? (await inPath(terminal, all)))
      : all.filter(({ name }) => name === named);
  const places: Place[] = [];
  for (const commands of [true, false]) {
    const names = agents.filter((agent) => agent.commands === commands).map(({ name }) => name);
    if (names.length > 0)
      places.push({ agents: names, installation: await readInstallation(commands, VERSION, terminal) });
  }
  return places;
}

/** By the program that svc talks to, or by the agent's own: `claude` for a command line. */
async function inPath({ environment }: Terminal, agents: readonly KnownAgent[]): Promise<KnownAgent[]> {
  const variables = { PATH: environment['PATH'] ?? '' };
  const found = await Promise.all(
    agents.map(async (agent) => {
      const programs = [agent.command, agent.name].map((command) =>
        locateAgent({ command, env: {} }, variables),
      );
      return (await Promise.all(programs)).some((program) => program !== null);
    }),
  );
  return agents.filter((_, index) => found[index]);
}
