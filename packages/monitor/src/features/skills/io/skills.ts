// Skills: short texts that say how to do a part of the work. svc ships some, installs them where agents look for them, and
// finds the one that the worker command names. Files that svc did not write, or that were changed since, are never touched.
import { createHash } from 'node:crypto';
import { rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifAllowed, ifPresent } from '@svc/lib/files';
import { entriesIn, isThere, lstat, namesIn, readdir, readFile, readText } from '@svc/lib/paths';
import { z } from 'zod';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import type { AgentProblem } from '../../agents/choice.ts';
import {
  commandParts,
  DEFAULT_WORKER_COMMAND,
  OWN_PLUGIN,
  skillPrompt,
} from '../../agents/worker-command.ts';

/** Beside the bundled program, or in the repository when it runs from source. */
function shippedFolder(folder: string = import.meta.dirname): string {
  return basename(folder) === 'dist'
    ? join(folder, 'skills')
    : join(folder, '../../../../../../examples/skills');
}

export async function shippedSkills(): Promise<string[]> {
  const entries = await entriesIn(shippedFolder());
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

export type SkillsPlace = { home: string; environment: Environment };

/** Where agents look for skills: one that knows commands of plugins in its own folder, all others in a common one. */
function skillsFolder(commands: boolean, { home, environment }: SkillsPlace): string {
  return join(commands ? claudeFolder({ home, environment }) : join(home, '.agents'), 'skills');
}

function claudeFolder({ home, environment }: SkillsPlace): string {
  return environment['CLAUDE_CONFIG_DIR'] || join(environment['HOME'] || home, '.claude');
}

/** The first prompt of a worker: the command if its agent knows it and has it, else the text of the skill. */
export async function workerPrompt(
  given: SkillsPlace & {
    /** `commands` is null when it is unknown: then it gets what is configured. */
    agent: { name: string; commands: boolean | null };
    command: string;
    ticket: string;
  },
): Promise<{ prompt: string } | AgentProblem> {
  const { agent, command, ticket } = given;
  const { plugin, skill } = commandParts(command);
  const isOwn = plugin === OWN_PLUGIN;
  if (agent.commands === null) return { prompt: `${command} ${ticket}` };
  if (isOwn && !(await shippedSkills()).includes(skill))
    return {
      problem: `The worker command ${command} does not exist: ${OWN_PLUGIN} has no skill ${skill}.`,
      remedy: `Run: svc config set svc.orchestration.workerCommand ${DEFAULT_WORKER_COMMAND}`,
    };
  if (agent.commands && (!isOwn || (await isInstalled(skill, given))))
    return { prompt: `${command} ${ticket}` };
  const file = isOwn
    ? join(shippedFolder(), skill, 'SKILL.md')
    : join(skillsFolder(false, given), `${plugin}-${skill}`, 'SKILL.md');
  const text = await ifPresent(readText(file));
  if (text !== undefined) return { prompt: skillPrompt(text, ticket) };
  return {
    problem: `The agent ${agent.name} does not know commands of plugins, and the text of ${command} was not found in ${file}.`,
    remedy: `Write what it should do to that file, or use the skill of svc: svc config set svc.orchestration.workerCommand ${DEFAULT_WORKER_COMMAND}`,
  };
}

/** As a folder of skills, or by the agent's own list of plugins. */
async function isInstalled(skill: string, place: SkillsPlace): Promise<boolean> {
  const home = claudeFolder(place);
  const cache = join(home, 'plugins/cache');
  for (const plugins of [join(home, 'skills'), ...(await foldersIn(cache))]) {
    const own = join(plugins, OWN_PLUGIN);
    for (const version of [own, ...(await foldersIn(own))])
      for (const file of [`skills/${skill}/SKILL.md`, `commands/${skill}.md`])
        if (await isThere(join(version, file))) return true;
  }
  return false;
}

async function foldersIn(folder: string): Promise<string[]> {
  return ((await ifAllowed(namesIn(folder))) ?? []).map((name) => join(folder, name));
}

type ShippedFile = { content: string; mode: number };

/** By path in the skills folder. */
async function shippedFiles(commands: boolean, version: string): Promise<Map<string, ShippedFile>> {
  const files = new Map<string, ShippedFile>();
  for (const skill of await shippedSkills())
    for (const name of await readdir(join(shippedFolder(), skill))) {
      const content = await readText(join(shippedFolder(), skill, name));
      const mode = content.startsWith('#!') ? 0o755 : 0o644;
      if (commands) files.set(join(OWN_PLUGIN, 'skills', skill, name), { content, mode });
      else files.set(join(`${OWN_PLUGIN}-${skill}`, name), { content: asPlainSkill(name, content), mode });
    }
  const manifest = { name: OWN_PLUGIN, version, description: 'Work on tickets with svc.' };
  if (commands)
    files.set(join(OWN_PLUGIN, '.claude-plugin', 'plugin.json'), {
      content: `${JSON.stringify(manifest, null, 2)}\n`,
      mode: 0o644,
    });
  return files;
}

/** Outside a plugin, a skill has the name of its folder, and nothing fills in the ticket. */
function asPlainSkill(name: string, content: string): string {
  if (name !== 'SKILL.md') return content;
  return content
    .replace(/^name: /m, `name: ${OWN_PLUGIN}-`)
    .replaceAll('$ARGUMENTS', 'the one that you were given');
}

/** What svc wrote into a skills folder, by path, with the SHA-256 of the content. */
const Written = z.object({ version: z.string(), files: z.record(z.string(), z.string()) });
const WRITTEN_FILE = `.${OWN_PLUGIN}.json`;

async function readWritten(folder: string): Promise<z.infer<typeof Written> | undefined> {
  const text = await ifPresent(readText(join(folder, WRITTEN_FILE)));
  if (text === undefined) return undefined;
  try {
    return Written.parse(JSON.parse(text));
  } catch (error) {
    // Without it, only files that are exactly what svc would write count as written by svc.
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

export type SkillsInstallation = {
  folder: string;
  /** The installed version; null: none. */
  installed: string | null;
  version: string;
  files: {
    path: string;
    /** `current`: as svc would write it now. `older`: as svc wrote it. `foreign`: by somebody else, or changed since. */
    state: 'absent' | 'current' | 'older' | 'foreign';
    /** Undefined: it is no longer part of svc. */
    wanted: ShippedFile | undefined;
  }[];
};

export async function readInstallation(
  commands: boolean,
  version: string,
  place: SkillsPlace,
): Promise<SkillsInstallation> {
  const folder = skillsFolder(commands, place);
  const shipped = await shippedFiles(commands, version);
  const written = await readWritten(folder);
  const files: SkillsInstallation['files'] = [];
  for (const path of new Set([...shipped.keys(), ...Object.keys(written?.files ?? {})])) {
    const wanted = shipped.get(path);
    const found = await hashAt(folder, path);
    const isCurrent = wanted !== undefined && found === hashOf(wanted.content);
    const isOlder = found === written?.files[path];
    const state = isCurrent ? 'current' : isOlder ? 'older' : 'foreign';
    files.push({ path, wanted, state: found === undefined ? 'absent' : state });
  }
  return { folder, installed: written?.version ?? null, version, files };
}

/** What an installation would change. Nothing is written while one of the files is foreign. */
export function installChanges({ files }: SkillsInstallation) {
  return {
    write: files.flatMap(({ path, wanted, state }) =>
      wanted !== undefined && (state === 'absent' || state === 'older') ? [{ path, ...wanted }] : [],
    ),
    remove: files.flatMap(({ path, wanted, state }) =>
      wanted === undefined && state === 'older' ? [path] : [],
    ),
    foreign: files.flatMap(({ path, wanted, state }) =>
      wanted !== undefined && state === 'foreign' ? [path] : [],
    ),
  };
}

export async function installSkills(installation: SkillsInstallation): Promise<void> {
  const { folder, version, files } = installation;
  const { write, remove } = installChanges(installation);
  for (const { path, content, mode } of write)
    await writeFileAtomically(join(folder, path), content, { mode });
  await removeFiles(folder, remove);
  const hashes = files.flatMap(({ path, wanted }) => (wanted ? [[path, hashOf(wanted.content)]] : []));
  const written: z.infer<typeof Written> = { version, files: Object.fromEntries(hashes) };
  // Last: until then, what was written is known by its content.
  await writeFileAtomically(join(folder, WRITTEN_FILE), `${JSON.stringify(written, null, 2)}\n`);
}

/** What svc wrote and nobody changed. */
export function writtenFiles({ installed, files }: SkillsInstallation): string[] {
  if (installed === null) return [];
  return files.flatMap(({ path, state }) => (state === 'current' || state === 'older' ? [path] : []));
}

export async function removeSkills(installation: SkillsInstallation): Promise<void> {
  const { folder } = installation;
  await removeFiles(folder, writtenFiles(installation));
  await ifPresent(unlink(join(folder, WRITTEN_FILE)));
}

/** With the folders that are then empty. */
async function removeFiles(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await ifPresent(unlink(join(folder, path)));
    for (let at = dirname(path); at !== '.'; at = dirname(at)) {
      if ((await namesIn(join(folder, at))).length > 0) break;
      await ifPresent(rmdir(join(folder, at)));
    }
  }
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Undefined: there is nothing. A link, or a file behind one, is not what svc wrote. */
async function hashAt(folder: string, path: string): Promise<string | undefined> {
  const names = path.split('/');
  for (let count = 1; count <= names.length; count += 1) {
    const stats = await ifPresent(lstat(join(folder, ...names.slice(0, count))));
    if (stats === undefined) return undefined;
    if (count < names.length ? !stats.isDirectory() : !stats.isFile()) return 'not a file';
  }
  return hashOf((await readFile(join(folder, path))).bytes);
}
