// The end of a run: files the findings in the queues of a folder, if the project has consent. It does not ask: without
// consent all of them stay, and so do those that cannot be filed.
import { dirname, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { namesIn } from '@svc/lib/paths';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { worktreeRoot } from '../../../kernel/disk/git-folder.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { leadsOut } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { Config } from '../../config.ts';
import { type FilingConsent, filingConsent } from '../filing-consent.ts';
import { drainQueue, openDestinations, reasonsOf } from './drain.ts';
import {
  createDrainJournal,
  createFindingsQueue,
  journalFile,
  projectFindingsFile,
  textOf,
} from './queue.ts';

export type FiledFindings = {
  /** The folder whose queues were read. */
  project: string;
  filed: number;
  /** Findings that are still waiting. */
  left: number;
  /** Why they are waiting; null when none is. */
  why: string | null;
};

export type Findings = {
  /** One entry for each waiting finding: its title, or the text of a line that cannot be parsed. */
  waiting: (project: string) => Promise<string[]>;
  /** The folder of all queues. */
  folder: (project: string) => string;
  /** Files them if the project has consent. What is not filed stays where it is. */
  file: (given: {
    /** The folder of the project, or its folder in a worktree. */
    project: string;
    scope: EventDraft['scope'];
    signal: AbortSignal;
  }) => Promise<FiledFindings>;
};

/** `createRunEndFindings({ config, locks, trackerApiUrl, environment, source: 'orchestrator', report, now })` */
export function createRunEndFindings(options: {
  config: Config;
  locks: FileLocks;
  trackerApiUrl: string;
  environment: Environment;
  source: EventDraft['source'];
  /** Does not throw. */
  report: (draft: EventDraft) => Promise<void>;
  now: () => number;
}): Findings {
  const { config, locks, source, report, now } = options;
  const consent = filingConsent(config);

  /** The queues of sessions and the current one, with their unfiled lines. */
  async function queuesIn(project: string): Promise<{ file: string; titles: string[] }[]> {
    const names = (await ownNames(project)).filter((name) => name.endsWith('.jsonl'));
    return Promise.all(
      names.map(async (name) => {
        const file = join(folderOf(project), name);
        const states = await createDrainJournal(journalFile(file)).read();
        const lines = await createFindingsQueue({ file, locks }).lines();
        const open = lines.filter(({ key }) => states.get(key)?.state !== 'filed');
        return {
          file,
          titles: open.map(({ text, read }) => ('finding' in read ? read.finding.title : text)),
        };
      }),
    );
  }

  /** Lines that a drain set aside as unreadable are in no queue and in no ticket. */
  async function unreadableIn(project: string): Promise<string[]> {
    const names = (await ownNames(project)).filter((name) => name.endsWith('.jsonl.unreadable'));
    const texts = await Promise.all(names.map((name) => textOf(join(folderOf(project), name))));
    return texts.flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '');
  }

  async function waiting(project: string): Promise<string[]> {
    const queues = await queuesIn(project);
    return [...queues.flatMap(({ titles }) => titles), ...(await unreadableIn(project))];
  }

  return {
    folder: folderOf,
    waiting,
    async file({ project, scope, signal }) {
      const queues = await queuesIn(project);
      let filed = 0;
      const failures: string[] = [];
      for (const { file } of consent.granted ? queues : []) {
        try {
          const drained = await drainQueue({
            queue: createFindingsQueue({ file, locks }),
            locks,
            destinations: openDestinations(options),
            baseLabels: config.svc.feedback.labels,
            report,
            by: { source, scope },
            now,
            signal,
          });
          filed += drained.filed;
          if (drained.left > 0) failures.push(reasonsOf(drained));
        } catch (error) {
          // Another drain has the queue, or the disk failed.
          if (!(error instanceof Failure) && systemErrorCode(error) === undefined) throw error;
          failures.push((error as Error).message);
        }
      }
      const left = (await waiting(project)).length;
      return { project, filed, left, why: left === 0 ? null : whyLeft(consent, failures) };
    },
  };
}

/** A link to a file elsewhere is not a finding of this project. */
async function ownNames(project: string): Promise<string[]> {
  const folder = folderOf(project);
  const root = await worktreeRoot(project);
  const own: string[] = [];
  for (const name of await namesIn(folder)) if (!(await leadsOut(root, join(folder, name)))) own.push(name);
  return own;
}

function folderOf(project: string): string {
  return dirname(projectFindingsFile(project));
}

function whyLeft(consent: FilingConsent, failures: readonly string[]): string {
  if (!consent.granted && consent.unconfirmed.length > 0)
    return `you have not agreed to file them at ${consent.unconfirmed.join(' and ')} (svc feedback consent grant)`;
  if (!consent.granted) return 'no one has agreed to file them (svc.feedback.autoFile)';
  return failures.length > 0 ? failures.join('; ') : 'they cannot be read';
}
