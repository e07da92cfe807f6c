// The hooks in an agent's own settings file. They are added to the text of the file, whose every other byte stays, and
// what was added is noted, so that removing them restores the file byte for byte. They are recognised by their command.
import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { isThere, readText } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import { getNodeValue, type ParseError, parseTree } from 'jsonc-parser';
import { z } from 'zod';
import { appendInJson, setInJson, unsetInJson } from '../../../kernel/config/edit-json.ts';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { ANSWER_WITHIN_MS, type HookedAgent, takesAnswers } from '../hook-event.ts';
import { hookEvents } from '../hooks.ts';
import { hookScript } from './script.ts';

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_SEC = 2;
/** The hook ends before. */
const ANSWER_TIMEOUT_SEC = ANSWER_WITHIN_MS / 1000 + 10;
const ASKED_BY = 'PermissionRequest';
const EMPTY = '{}\n';

/** One step of an installation: the text that it put in the place of another. */
const Step = z.object({ removed: z.string(), added: z.string() });
const Note = z.object({
  file: z.string(),
  existed: z.boolean(),
  /** The folders that were made for the file, the innermost first. */
  folders: z.array(z.string()).default([]),
  steps: z.array(Step),
});
type Note = z.infer<typeof Note>;

type HookSettings = {
  agent: HookedAgent;
  file: string;
  /** Null: there is no file. */
  text: string | null;
  /** The events that have a hook of svc. */
  events: string[];
  /** Whether each of them has the hook that would be installed now. */
  isCurrent: boolean;
  /** Whether one of them answers permission requests. */
  answers: boolean;
};

/** A change that was not written yet. `after` is null when the file is removed. */
export type Change = { agent: HookedAgent; file: string; before: string | null; after: string | null };

type Place = { dataDir: string; home: string; environment: Environment };

/** Where the agent looks for its settings. */
function settingsFile(agent: HookedAgent, { home, environment }: Omit<Place, 'dataDir'>): string {
  const folder = (variable: string, name: string): string => environment[variable] || join(home, name);
  switch (agent) {
    case 'claude':
      return join(folder('CLAUDE_CONFIG_DIR', '.claude'), 'settings.json');
    case 'codex':
      return join(folder('CODEX_HOME', '.codex'), 'hooks.json');
    case 'gemini':
      return join(environment['GEMINI_CLI_HOME'] || home, '.gemini', 'settings.json');
    case 'copilot':
      return join(folder('COPILOT_HOME', '.copilot'), 'hooks', 'svc.json');
  }
}

export async function readHookSettings(agent: HookedAgent, place: Place): Promise<HookSettings> {
  const file = settingsFile(agent, place);
  const text = await readSettings(file);
  const found = text === null ? [] : ownHooks(agent, parsed(agent, file, text));
  const commands = found.map(({ command }) => command);
  const answers = commands.some((command) => command.endsWith(' answer'));
  const wanted = hookEvents(agent).map((event) => commandOf(agent, event, place.dataDir));
  if (answers) wanted.push(commandOf(agent, ASKED_BY, place.dataDir, ' answer'));
  return {
    agent,
    file,
    text,
    events: found.map(({ event }) => event),
    isCurrent: commands.length === wanted.length && wanted.every((command) => commands.includes(command)),
    answers,
  };
}

/** Why installed hooks do not report everything. */
export function hooksProblem(
  { events, isCurrent }: HookSettings,
  script: string | undefined,
): string | undefined {
  if (events.length === 0) return undefined;
  return script ?? (isCurrent ? undefined : 'its hooks are not those of this version of svc');
}

/** Installs the same hooks again. */
export function installCommand({ agent, answers }: HookSettings): string {
  return `svc hooks install ${agent}${answers ? ' --answer' : ''}`;
}

/** The settings with the hooks, instead of those of an earlier installation. `answers`: with the one that answers. */
export async function planInstall(
  agent: HookedAgent,
  place: Place,
  answers: boolean,
): Promise<Change & { note: Note }> {
  if (answers && !takesAnswers(agent))
    throw new Failure(
      'usage',
      `svc does not know how a hook answers for ${agent}; only claude is known to take an answer.`,
      `Install hooks that only report: svc hooks install ${agent}`,
    );
  const { file, text: before } = await readHookSettings(agent, place);
  const { dataDir } = place;
  const known = (await readNotes(dataDir))[agent];
  const clean = before === null ? null : await withoutHooks(agent, file, before, known);
  const existed = clean !== null;
  let text = clean === null || clean.trim() === '' ? EMPTY : clean;
  const steps: Note['steps'] = existed && text !== clean ? [{ removed: clean, added: EMPTY }] : [];
  const take = (next: string): void => {
    steps.push(stepBetween(text, next));
    text = next;
  };
  if (agent === 'copilot' && !existed) take(setInJson(text, ['version'], 1));
  const add = (event: string, value: object): void => {
    const path = ['hooks', event];
    const list = listAt(parsed(agent, file, text), event, file);
    take(list === undefined ? setInJson(text, path, [value]) : appendInJson(text, path, value));
  };
  for (const event of hookEvents(agent)) add(event, entryOf(agent, event, dataDir));
  if (answers) {
    const command = commandOf(agent, ASKED_BY, dataDir, ' answer');
    add(ASKED_BY, { hooks: [{ type: 'command', command, timeout: ANSWER_TIMEOUT_SEC }] });
  }
  const folders = known?.file === file ? known.folders : await missingFolders(file);
  return { agent, file, before, after: text, note: { file, existed, folders, steps } };
}

async function missingFolders(file: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = dirname(file); !(await isThere(folder)); folder = dirname(folder)) missing.push(folder);
  return missing;
}

/** The settings without the hooks of svc; null when there is nothing to remove. */
export async function planRemoval(agent: HookedAgent, place: Place): Promise<Change | null> {
  const { file, text: before, events } = await readHookSettings(agent, place);
  if (before === null || events.length === 0) return null;
  const known = (await readNotes(place.dataDir))[agent];
  return { agent, file, before, after: await withoutHooks(agent, file, before, known) };
}

/** Writes the change, unless the file is no longer as it was when the change was planned. */
export async function writeChange(change: Change & { note?: Note }, dataDir: string): Promise<void> {
  const { agent, file, before, after, note } = change;
  if ((await readSettings(file)) !== before)
    throw new Failure(
      'file-busy',
      `${file} was changed meanwhile; nothing was written.`,
      'Run the command again.',
    );
  // First the note: hooks without one would not be removed exactly.
  if (note !== undefined) await writeNote(dataDir, agent, note);
  if (after === null) await removeFile(file, (await readNotes(dataDir))[agent]);
  else await writeFileAtomically(file, after, { folderMode: 0o700, ...(before === null && { mode: 0o600 }) });
  if (note === undefined) await writeNote(dataDir, agent, undefined);
}

/** With the folders that were made for it, if nothing else is in them. */
async function removeFile(file: string, note: Note | undefined): Promise<void> {
  await rm(file);
  for (const folder of note?.file === file ? note.folders : []) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
      return;
    }
  }
}

/** The text without the hooks: as it was before the installation, with what a person changed since. */
async function withoutHooks(
  agent: HookedAgent,
  file: string,
  text: string,
  note: Note | undefined,
): Promise<string | null> {
  const undone = note?.file === file ? undo(text, note.steps) : undefined;
  const isClean = undone !== undefined && ownHooks(agent, read(agent, undone).settings).length === 0;
  const clean = isClean ? undone : cutOut(agent, file, text);
  const isOurs = note?.existed === false && isSkeleton(read(agent, clean).settings);
  return isOurs ? null : clean;
}

/** Takes the steps back, wherever their text is now; undefined when one of them was changed. */
function undo(text: string, steps: Note['steps']): string | undefined {
  let undone = text;
  for (const { removed, added } of steps.toReversed()) {
    const at = undone.indexOf(added);
    if (at < 0 || undone.includes(added, at + 1)) return undefined;
    undone = undone.slice(0, at) + removed + undone.slice(at + added.length);
  }
  return undone;
}

/** Removes each hook, and the lists that are empty without it. */
function cutOut(agent: HookedAgent, file: string, text: string): string {
  let rest = text;
  for (;;) {
    const last = ownHooks(agent, parsed(agent, file, rest)).at(-1);
    if (last === undefined) break;
    const { path } = last;
    rest = unsetInJson(rest, path);
    // The group of the hook, the list of the event, and all hooks.
    for (const outer of [path.slice(0, 3), path.slice(0, 2), path.slice(0, 1)])
      if (isEmpty(valueAt(parsed(agent, file, rest), outer))) rest = unsetInJson(rest, outer);
  }
  return rest;
}

/** What svc puts into a new file besides hooks. */
function isSkeleton(settings: unknown): boolean {
  return Object.keys(Object(settings)).every((name) => name === 'version');
}

/** A group without hooks, or a list or an object with nothing in it. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || value === null) return false;
  const { hooks, ...others } = value as { hooks?: unknown };
  return Object.keys(others).every((name) => name === 'matcher') && (hooks === undefined || isEmpty(hooks));
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null
        ? (inner as Record<string | number, unknown>)[name]
        : undefined,
    value,
  );
}

function stepBetween(before: string, after: string): { removed: string; added: string } {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { removed: before.slice(start, before.length - end), added: after.slice(start, after.length - end) };
}

type OwnHook = { event: string; command: string; path: (string | number)[] };

/** The hooks of svc, whichever data folder they belong to. */
function ownHooks(agent: HookedAgent, settings: unknown): OwnHook[] {
  const found: OwnHook[] = [];
  const hooks = valueAt(settings, ['hooks']);
  for (const [event, groups] of Object.entries(hooks ?? {})) {
    const add = (hook: unknown, path: (string | number)[]): void => {
      const command = valueAt(hook, [agent === 'copilot' ? 'bash' : 'command']);
      if (typeof command === 'string' && /\/svc-agent-hook'? [a-z]+ \w+( answer)?$/.test(command))
        found.push({ event, command, path });
    };
    if (!Array.isArray(groups)) continue;
    groups.forEach((group: unknown, at) => {
      if (agent === 'copilot') return add(group, ['hooks', event, at]);
      const inner = valueAt(group, ['hooks']);
      if (Array.isArray(inner))
        inner.forEach((hook, index) => add(hook, ['hooks', event, at, 'hooks', index]));
    });
  }
  return found;
}

function commandOf(agent: HookedAgent, event: string, dataDir: string, mode: '' | ' answer' = ''): string {
  return `${shellQuoted(hookScript(dataDir))} ${agent} ${event}${mode}`;
}

function entryOf(agent: HookedAgent, event: string, dataDir: string): object {
  const command = commandOf(agent, event, dataDir);
  if (agent === 'copilot') return { type: 'command', bash: command, timeoutSec: TIMEOUT_SEC };
  // Gemini counts in milliseconds.
  const timeout = agent === 'gemini' ? TIMEOUT_SEC * 1000 : TIMEOUT_SEC;
  return { hooks: [{ type: 'command', command, timeout }] };
}

/** The list of an event's hooks; undefined when there is none. */
function listAt(settings: unknown, event: string, file: string): unknown[] | undefined {
  const list = valueAt(settings, ['hooks', event]);
  const hooks = valueAt(settings, ['hooks']);
  const isObject =
    hooks === undefined || (typeof hooks === 'object' && hooks !== null && !Array.isArray(hooks));
  if (isObject && (list === undefined || Array.isArray(list))) return list;
  const wrong = isObject ? `hooks.${event} is not a list` : 'hooks is not an object';
  throw new Failure(
    'config-invalid',
    `${file}: ${wrong}; nothing was changed.`,
    'Correct the file by hand first.',
  );
}

async function readSettings(file: string): Promise<string | null> {
  try {
    return (await ifPresent(readText(file, { most: MAX_BYTES }))) ?? null;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    throw new Failure('file-unusable', `${file} cannot be read (${code}).`, `Check it: ls -l '${file}'`);
  }
}

/** A file that a person broke is never written. */
function parsed(agent: HookedAgent, file: string, text: string): unknown {
  const { settings, problem } = read(agent, text);
  if (problem === undefined) return settings;
  throw new Failure(
    'config-invalid',
    `${file} ${problem}; nothing was changed.`,
    'Correct the file by hand, then run this again.',
  );
}

function read(agent: HookedAgent, text: string): { settings?: unknown; problem?: string } {
  if (text.trim() === '') return { settings: {} };
  const errors: ParseError[] = [];
  // Gemini accepts comments in its settings.
  const isLenient = agent === 'gemini';
  const tree = parseTree(text, errors, { disallowComments: !isLenient, allowTrailingComma: isLenient });
  const [error] = errors;
  if (error !== undefined || tree === undefined) {
    const line = text.slice(0, error?.offset ?? 0).split('\n').length;
    return { problem: `is not valid JSON (line ${line})` };
  }
  return tree.type === 'object'
    ? { settings: getNodeValue(tree) as unknown }
    : { problem: 'is not a JSON object' };
}

// What each installation added, by agent.

function notesFile(dataDir: string): string {
  return join(dataDir, 'agent-hooks.json');
}

async function readNotes(dataDir: string): Promise<Partial<Record<HookedAgent, Note>>> {
  const file = notesFile(dataDir);
  if (!(await isThere(file))) return {};
  try {
    const { success, data } = z.record(z.string(), Note).safeParse(JSON.parse(await readText(file)));
    return success ? data : {};
  } catch (error) {
    // Without the notes the hooks are cut out.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

async function writeNote(dataDir: string, agent: HookedAgent, note: Note | undefined): Promise<void> {
  const { [agent]: _, ...others } = await readNotes(dataDir);
  const notes = note === undefined ? others : { ...others, [agent]: note };
  await writeFileAtomically(notesFile(dataDir), `${JSON.stringify(notes, null, 2)}\n`, {
    mode: 0o600,
    folderMode: 0o700,
  });
}
