// The configuration that the daemon uses, kept up to date: every file of every project is checked twice a second, and a
// change is applied without a restart. The last valid values are saved in the data folder, so a file that is broken
// when the daemon starts does not weaken any policy.
import { join } from 'node:path';
import { sameJson } from '@svc/lib/canonical-json';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { ifPresentSync } from '@svc/lib/files';
import { lookAt, readTextNow } from '@svc/lib/paths';
import { every } from '@svc/lib/rounds';
import { z } from 'zod';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import type { EventDraft } from '../log/event-line.ts';
import type { Applied, Configuration } from './configuration.ts';
import type { Machine } from './environment.ts';
import { isHidden } from './field.ts';
import { globalFile } from './locate.ts';
import type { ConfigProblem } from './problems.ts';
import { type KnownProjects, loadProjects, type Projects, type ServedProject } from './projects.ts';
import { isMember } from './read-file.ts';
import type { LastGood } from './resolve.ts';
import type { Environment, ResolvedValue } from './resolved-value.ts';
import type { KeyPath } from './tree.ts';

const CHECK_EVERY_MS = 500;

export type LiveConfig = {
  current: () => Projects;
  /** Whether every file was looked at again since the start. */
  isChecked: () => boolean;
  /** Reads the files now and applies what changed; for a caller that has just written one. */
  refresh: () => Promise<void>;
  /** The same if a file has changed since it was read; for a caller that is about to log what depends on it. */
  catchUp: () => Promise<void>;
  /** Listeners are called after each change, one after the other. */
  onChange: (listener: () => Promise<void> | void) => void;
  /** Logs the configuration, then checks the files until it is stopped. */
  start: (append: (draft: EventDraft) => Promise<unknown>) => Promise<void>;
  /** Logs which of these projects, which the log still has from an earlier start, are no longer served. */
  compareWith: (served: Iterable<string>) => Promise<void>;
  stop: () => Promise<void>;
};

export async function openLiveConfig(
  configuration: Configuration,
  options: {
    machine: Machine;
    environment: Environment;
    folder: string;
    onFailure: (error: unknown) => void;
  },
): Promise<LiveConfig> {
  const { machine, environment, folder, onFailure } = options;
  const file = lastGoodFile(machine.dataDir);
  const listeners: (() => Promise<void> | void)[] = [];
  let known = readKnown(file, onFailure);
  let kept = '';
  let current = await load();
  /** What the log has, and therefore the board; undefined for what was logged before this start. */
  const logged = new Map<string, Stated | undefined>();
  /** What could not be written; retried with every check. */
  let unwritten: ConfigProblem[] = [];
  let seen = '';
  let pending: string | null = null;
  let append: ((draft: EventDraft) => Promise<unknown>) | undefined;
  let checks: { stop: () => Promise<void> } | undefined;
  let work = Promise.resolve();
  /** A reading that has not begun. */
  let next: Promise<void> | undefined;
  let isChecked = false;

  async function load(): Promise<Projects> {
    const loaded = await loadProjects(configuration, machine, environment, folder, known);
    known = new Map(
      loaded.projects.map((project) => [
        project.folder,
        { by: project.by, lastGood: validIn(configuration, project) },
      ]),
    );
    return loaded;
  }

  async function keep(): Promise<void> {
    const text = JSON.stringify(forDisk(configuration, current.projects));
    if (text === kept) return;
    await writeFileAtomically(file, text, { mode: 0o600 });
    kept = text;
  }

  async function logChanges(): Promise<void> {
    if (append === undefined) return;
    const list = globalFile(machine);
    for (const { folder: project, draft, now } of appliedLines(
      configuration,
      logged,
      appliedIn(configuration, current, list),
    )) {
      await append(draft);
      if (now === undefined) logged.delete(project);
      else logged.set(project, now);
    }
  }

  /** The disk may be full, or the data folder gone: the daemon continues, and reports it. */
  async function record(): Promise<void> {
    const before = unwritten.length;
    const problems: ConfigProblem[] = [];
    const attempt = async (path: string, what: string, write: () => Promise<void>): Promise<void> => {
      try {
        await write();
      } catch (error) {
        if (before === 0) onFailure(error);
        problems.push(notWritten(path, what, error));
      }
    };
    await attempt(machine.eventsDir, 'the configuration in effect could not be logged', logChanges);
    await attempt(file, 'the valid values could not be saved for the next start', keep);
    unwritten = problems;
  }

  async function recordAgain(): Promise<void> {
    await record();
    if (unwritten.length === 0) await callListeners();
  }

  async function callListeners(): Promise<void> {
    for (const listener of listeners) await listener();
  }

  async function apply(): Promise<void> {
    const { files } = current;
    const before = await stateOf(files);
    const loaded = await load();
    // A file that changed meanwhile may have been read in either state: the next checks read it again.
    seen = (await stateOf(files)) === before ? before : '';
    current = loaded;
    await record();
    await callListeners();
  }

  /** One change at a time. All callers before the next reading has begun share it. */
  function refresh(): Promise<void> {
    if (next !== undefined) return next;
    const done = work.then(() => {
      next = undefined;
      return apply();
    });
    next = done;
    work = done.catch(onFailure);
    return done;
  }

  /** A file that is being written is left alone until it was the same in two checks. */
  async function check(): Promise<void> {
    const state = await stateOf(current.files);
    if (state !== seen && state === pending) refresh().catch(() => undefined);
    pending = state;
    if (unwritten.length > 0) work = work.then(recordAgain).catch(onFailure);
  }

  async function catchUp(): Promise<void> {
    if (append !== undefined && (await stateOf(current.files)) !== seen) await refresh();
  }

  return {
    current: () =>
      unwritten.length === 0 ? current : { ...current, problems: [...current.problems, ...unwritten] },
    isChecked: () => isChecked,
    refresh,
    catchUp,
    onChange: (listener) => void listeners.push(listener),
    async start(to) {
      append = to;
      await record();
      // Nothing counts as seen yet: changes since the files were read are found by the first checks.
      const rounds = every(CHECK_EVERY_MS, check, onFailure);
      checks = rounds;
      void rounds
        .runAfresh()
        .then(rounds.runAfresh)
        .then(() => work)
        .then(() => void (isChecked = true));
    },
    compareWith(served) {
      for (const project of served) if (!logged.has(project)) logged.set(project, undefined);
      work = work.then(record).catch(onFailure);
      return work;
    },
    async stop() {
      await checks?.stop();
      await work;
    },
  };
}

async function stateOf(files: readonly string[]): Promise<string> {
  const looks = await Promise.all(files.map((file) => lookAt(file)));
  return looks
    .map((look) =>
      look.state === 'present' ? look.identity : `${look.state} ${'reason' in look && look.reason}`,
    )
    .join('\n');
}

function notWritten(path: string, what: string, error: unknown): ConfigProblem {
  const why = systemErrorCode(error) ?? messageOf(error);
  const remedy = 'Free space, or make the folder writable; svc retries by itself.';
  return {
    severity: 'error',
    code: 'not-written',
    file: path,
    key: '',
    message: `${what} (${why}).`,
    remedy,
  };
}

/** What is logged of a project. */
type Stated = Pick<ServedProject, 'folder' | 'applied' | 'values'>;

function joined(configuration: Configuration, kind: 'none' | 'unknown'): Applied {
  return Object.assign({}, ...configuration.parts.map(({ applied }) => applied?.[kind])) as Applied;
}

/** The list of projects counts as one of them while it cannot be read: it may name projects that nobody knows. */
function appliedIn(
  configuration: Configuration,
  { projects, isListKnown }: Projects,
  list: string,
): Stated[] {
  if (isListKnown) return projects;
  return [...projects, { folder: list, applied: joined(configuration, 'unknown'), values: [] }];
}

/** A line for each project that differs from what was logged; `now` is absent if it is no longer served. */
function appliedLines(
  configuration: Configuration,
  logged: ReadonlyMap<string, Stated | undefined>,
  projects: readonly Stated[],
): { folder: string; draft: EventDraft; now?: Stated }[] {
  const changed = projects.flatMap((project) => {
    const { folder } = project;
    const before = logged.get(folder);
    const keys = before === undefined ? [] : changedKeys(before, project);
    const isSame = keys.length === 0 && sameJson(before?.applied, project.applied);
    return isSame ? [] : [{ folder, draft: appliedLine(project, keys), now: project }];
  });
  const served = new Set(projects.map(({ folder }) => folder));
  const left = [...logged.keys()].filter((folder) => !served.has(folder));
  const laxness = ({ now }: { now: Stated }): number => configuration.guard?.laxness(now.applied) ?? 0;
  const strictFirst = changed.toSorted((one, other) => laxness(one) - laxness(other));
  const applied = joined(configuration, 'none');
  return [
    ...strictFirst,
    ...left.map((folder) => ({ folder, draft: appliedLine({ folder, applied }, [], false) })),
  ];
}

function appliedLine(
  { folder, applied }: Pick<Stated, 'folder' | 'applied'>,
  keys: string[],
  served = true,
): EventDraft {
  const detail = { project: folder, served, keys, ...applied };
  return { event: 'monitor.config.applied', source: 'monitor', via: 'local', scope: {}, detail };
}

function changedKeys(before: Stated, after: Stated): string[] {
  const [old, now] = [textsOf(before.values), textsOf(after.values)];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].filter((key) => old.get(key) !== now.get(key)).toSorted();
}

function textsOf(values: readonly ResolvedValue[]): Map<string, string> {
  return new Map(values.map(({ key, value }) => [key, JSON.stringify(value)]));
}

/**
 * The values that were valid in the files, and older values that still apply because nothing valid replaced them. A member
 * of the guarded group whose state is unknown is left out: on the next read it would count as known.
 */
function validIn({ guard }: Configuration, { values, applied }: ServedProject): LastGood {
  const isUnknown = (path: KeyPath): boolean =>
    guard !== undefined && isMember(guard, path) && guard.isUnknown(applied, path[guard.path.length] ?? '');
  const given = values.filter(
    ({ path, source }) => (source.kind === 'file' || source.kind === 'last-good') && !isUnknown(path),
  );
  return new Map(given.map(({ key, path, value }) => [key, { path, value }]));
}

function lastGoodFile(dataDir: string): string {
  return join(dataDir, 'last-good-config.json');
}

const OnDisk = z.array(
  z.object({
    folder: z.string(),
    by: z.enum(['list', 'start']),
    values: z.array(z.object({ path: z.array(z.string()).readonly(), value: z.unknown().optional() })),
  }),
);

/** Only values of the committed file: secrets are not copied. */
function forDisk(configuration: Configuration, projects: readonly ServedProject[]): z.input<typeof OnDisk> {
  return projects.map((project) => {
    const { folder, by, values } = project;
    const valid = validIn(configuration, project);
    const own = values.filter(({ field }) => field.layers[0] === 'project' && !isHidden(field));
    return { folder, by, values: own.flatMap(({ key }) => valid.get(key) ?? []) };
  });
}

/** Empty if the file cannot be read: then no earlier valid values are known. */
function readKnown(file: string, onFailure: (error: unknown) => void): KnownProjects {
  try {
    const read = OnDisk.parse(JSON.parse(ifPresentSync(() => readTextNow(file)) ?? '[]'));
    return new Map(
      read.map(({ folder, by, values }) => [
        folder,
        { by, lastGood: new Map(values.map(({ path, value }) => [path.join('.'), { path, value }])) },
      ]),
    );
  } catch (error) {
    onFailure(error);
    return new Map();
  }
}
