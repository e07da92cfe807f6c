// A world is a list of steps: plain data that the model judges, that a driver plays against the product, and that can be
// printed and made smaller. A step that refers to something that does not exist (yet) does nothing, so any step may be
// left out.

/** How much too early a start may be claimed. */
export const EARLIER_MS = 3_600_000;

/** What happened at the code host. Nobody hears of it before it is delivered or polled; `fact` is its number. */
export type Fact = { fact: number } & FactContent;
export type FactContent =
  | ({ do: 'commit'; repository: string } & Commit)
  | {
      do: 'open';
      repository: string;
      number: number;
      /** The commit at the end of its branch. */
      head: string;
      branch: string;
      base: string;
      /** Where the branch is: in the repository, in a fork, or in a fork that was deleted since. */
      from: 'here' | 'fork' | 'deleted-fork';
      /** The ticket that the title names. */
      ticket: string | null;
    }
  | { do: 'merge'; repository: string; number: number; head: string; commit: string }
  | { do: 'close'; repository: string; number: number }
  | {
      do: 'deployment';
      repository: string;
      id: number;
      commit: string;
      environment: string;
      /** `deploy`, `rollback` or `deploy:migrations`. */
      task: string;
    }
  | {
      do: 'status';
      repository: string;
      deployment: number;
      state: StatusState;
      /** It may differ from the one of its deployment: a promotion. */
      environment: string;
    };
export type StatusState = 'pending' | 'in_progress' | 'success' | 'failure' | 'error' | 'inactive';

/** A commit by its content: what it adds to, or takes out of, what its parents have. */
export interface Commit {
  id: string;
  parents: string[];
  /** The commit whose changes this one takes out. */
  reverts?: string;
  /** It takes them out without saying so. */
  isSilent?: true;
  /** Its change is a part of a file that others change too. */
  isShared?: true;
  /** Made with `-s ours`: it keeps only what its first parent has. */
  isOurs?: true;
  /** The same change as in that commit, on another branch. */
  picks?: string;
  /** All changes up to that commit, as one. */
  squashes?: string;
}

/** The entry of one repository in `svc.deploy`. An absent key is absent in the file. */
export interface PolicyEntry {
  skip?: boolean;
  environment?: string;
}
export type ProjectFile =
  /** The keys are as written: other case or `.git` at the end are the same repository. */
  | { kind: 'valid'; deploy: Record<string, PolicyEntry> | null }
  /** JSON, but another key has a value that is refused. */
  | { kind: 'refused'; deploy: Record<string, PolicyEntry> | null }
  | { kind: 'cut' }
  | { kind: 'empty' };

export type FileStep =
  | { do: 'file'; project: string; folder: '.svc' | '.claude'; file: ProjectFile | null }
  | { do: 'mount'; project: string; isThere: boolean }
  | { do: 'list'; project: string; isListed: boolean }
  /** The global file, which holds the list of projects. `{}` is valid and empty. */
  | { do: 'global'; file: 'good' | 'misspelt' | 'cut' | 'empty' | 'gone' };

export type Step = Fact | FileStep | OtherStep;

export type OtherStep =
  /** A fact may be delivered twice, late or never. */
  | { do: 'deliver'; fact: number }
  /** The reconciliation: whatever was not delivered becomes known. */
  | { do: 'poll' }
  | {
      do: 'worker';
      run: string;
      ticket: string;
      repository: string;
      branch: string | null;
    }
  /** What the agent writes into its own signal file. */
  | {
      do: 'claim';
      run: string;
      ticket: string;
      status?: 'done' | 'merged' | 'shipping';
      pullRequest?: number;
      repository?: string;
      branch?: string;
      /** A start long before the worker was seen. */
      earlier?: boolean;
    }
  /** What any process of the user may send to `POST /api/events`. */
  | {
      do: 'lie';
      topic: LieTopic;
      repository: string;
      run: string;
      ticket: string;
      merge: string;
      commit: string;
    }
  /** `svc ticket phase done <ticket>`, as a skill runs it. */
  | { do: 'phase'; ticket: string }
  | { do: 'accept'; run: string; ticket: string }
  | { do: 'retry'; run: string; ticket: string }
  | { do: 'relax'; repository: string }
  | { do: 'wait'; seconds: number }
  | { do: 'restart' };
type LieTopic = 'contained' | 'succeeded' | 'accepted' | 'merged' | 'status' | 'policy' | 'worker-done';

export interface World {
  seed: number;
  steps: Step[];
}

export function isFact(step: Step): step is Fact {
  return (
    step.do === 'commit' ||
    step.do === 'open' ||
    step.do === 'merge' ||
    step.do === 'close' ||
    step.do === 'deployment' ||
    step.do === 'status'
  );
}

export function isFileStep(step: Step): step is FileStep {
  return step.do === 'file' || step.do === 'mount' || step.do === 'list' || step.do === 'global';
}
