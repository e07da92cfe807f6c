// The configuration that the daemon uses, kept up to date: every file of every project is checked twice a second, and a
// change is applied without a restart. The last valid values are saved in the data folder, so a file that is broken
// when the daemon starts does not weaken any policy.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ConfigProblem,
  type Environment,
  type EventDraft,
  isHidden,
  type KeyPath,
  type LastGood,
  type ResolvedValue,
  sameJson,
} from '@svc/core';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import type { Machine } from './environment.ts';
import { type KnownProjects, loadProjects, type Projects, type ServedProject } from './projects.ts';

const CHECK_EVERY_MS = 500;

export type LiveConfig = {
  current: () => Projects;
  /** Reads the files now and applies what changed; for a caller that has just written one. */
  refresh: () => Promise<void>;
  /** Listeners are called after each change, one after the other. */
  onChange: (listener: () => Promise<void> | void) => void;
  /** Logs the configuration, then checks the files until it is stopped. */
  start: (append: (draft: EventDraft) => Promise<unknown>) => Promise<void>;
  stop: () => Promise<void>;
};

export async function openLiveConfig(options: {
  machine: Machine;
  environment: Environment;
  folder: string;
  onFailure: (error: unknown) => void;
}): Promise<LiveConfig> {
  const { machine, environment, folder, onFailure } = options;
  const file = lastGoodFile(machine.dataDir);
  const listeners: (() => Promise<void> | void)[] = [];
  let known = readKnown(file);
  let kept = '';
  let current = await load();
  /** What the log has, and therefore the board. */
  const logged = new Map<string, ServedProject>();
  /** What could not be written; retried with every check. */
  let unwritten: ConfigProblem[] = [];
  let seen = '';
  let pending: string | null = null;
  let append: ((draft: EventDraft) => Promise<unknown>) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let work = Promise.resolve();

  async function load(): Promise<Projects> {
    const loaded = await loadProjects(machine, environment, folder, known);
    known = new Map(
      loaded.projects.map((project) => [project.folder, { by: project.by, lastGood: validIn(project) }]),
    );
    return loaded;
  }

  async function keep(): Promise<void> {
    const text = JSON.stringify(forDisk(current.projects));
    if (text === kept) return;
    await writeFileAtomically(file, text, { mode: 0o600 });
    kept = text;
  }

  async function logChanges(): Promise<void> {
    if (append === undefined) return;
    for (const { folder: project, draft, now } of appliedLines(logged, current.projects)) {
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
    seen = stateOf(current.files);
    current = await load();
    await record();
    await callListeners();
  }

  /** One change at a time, in the order they were noticed. */
  function refresh(): Promise<void> {
    work = work.then(() => apply());
    const done = work;
    work = work.catch(onFailure);
    return done;
  }

  /** A file that is being written is left alone until it was the same in two checks. */
  function check(): void {
    const state = stateOf(current.files);
    if (state !== seen && state === pending) refresh().catch(() => undefined);
    pending = state;
    if (unwritten.length > 0) work = work.then(recordAgain).catch(onFailure);
  }

  return {
    current: () =>
      unwritten.length === 0 ? current : { ...current, problems: [...current.problems, ...unwritten] },
    refresh,
    onChange: (listener) => void listeners.push(listener),
    async start(to) {
      append = to;
      await record();
      // Nothing counts as seen yet: changes since the files were read are found by the first checks.
      timer = setInterval(check, CHECK_EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await work;
    },
  };
}

function stateOf(files: readonly string[]): string {
  const states = files.map((file) => {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
  });
  return states.join('\n');
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

/** A line for each project that differs from what was logged; `now` is absent if it is no longer served. */
function appliedLines(
  logged: ReadonlyMap<string, ServedProject>,
  projects: readonly ServedProject[],
): { folder: string; draft: EventDraft; now?: ServedProject }[] {
  const changed = projects.flatMap((project) => {
    const { folder } = project;
    const before = logged.get(folder);
    const keys = before === undefined ? [] : changedKeys(before, project);
    const isSame = keys.length === 0 && sameJson(before?.policies, project.policies);
    return isSame ? [] : [{ folder, draft: appliedLine(project, keys), now: project }];
  });
  const left = [...logged.values()].filter(({ folder }) => !projects.some((one) => one.folder === folder));
  return [
    ...changed,
    ...left.map((project) => ({ folder: project.folder, draft: appliedLine(project, [], false) })),
  ];
}

function appliedLine({ folder, policies }: ServedProject, keys: string[], served = true): EventDraft {
  const detail = { project: folder, served, keys, ...policies };
  return { event: 'monitor.config.applied', source: 'monitor', via: 'local', scope: {}, detail };
}

function changedKeys(before: ServedProject, after: ServedProject): string[] {
  const [old, now] = [textsOf(before.values), textsOf(after.values)];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].filter((key) => old.get(key) !== now.get(key)).toSorted();
}

function textsOf(values: readonly ResolvedValue[]): Map<string, string> {
  return new Map(values.map(({ key, value }) => [key, JSON.stringify(value)]));
}

/**
 * The values that were valid in the files, and older values that still apply because nothing valid replaced them. A
 * project or repository whose policy is unknown is left out: on the next read it would count as known.
 */
function validIn({ values, policies }: ServedProject): LastGood {
  if (policies.others === 'unknown') return new Map();
  const isUnknown = ([, section, repo = '']: KeyPath): boolean =>
    section === 'deploy' && policies.deploy[repo]?.skipDeployVerification === null;
  const given = values.filter(
    ({ path, source }) => (source.kind === 'file' || source.kind === 'last-good') && !isUnknown(path),
  );
  return new Map(given.map(({ key, path, value }) => [key, { path, value }]));
}

function lastGoodFile(dataDir: string): string {
  return join(dataDir, 'last-good-config.json');
}

type OnDisk = { folder: string; by: ServedProject['by']; values: { path: KeyPath; value: unknown }[] }[];

/** Only values of the committed file: secrets are not copied. */
function forDisk(projects: readonly ServedProject[]): OnDisk {
  return projects.map((project) => {
    const { folder, by, values } = project;
    const valid = validIn(project);
    const own = values.filter(({ field }) => field.layers[0] === 'project' && !isHidden(field));
    return { folder, by, values: own.flatMap(({ key }) => valid.get(key) ?? []) };
  });
}

/** Empty if the file cannot be read: then no earlier valid values are known. */
function readKnown(file: string): KnownProjects {
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as OnDisk;
    return new Map(
      read.map(({ folder, by, values }) => [
        folder,
        { by, lastGood: new Map(values.map(({ path, value }) => [path.join('.'), { path, value }])) },
      ]),
    );
  } catch {
    return new Map();
  }
}
