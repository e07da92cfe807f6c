// Worktrees of ended runs. They are removed by `worktrees.remove`, which refuses to lose work.
import { realpath } from 'node:fs/promises';
import { retentionOfWorktree, retentionPolicy } from '@svc/core';
import { Failure } from '../errors.ts';
import { findAgents } from '../orchestrate/agents/find-agents.ts';
import { isLost, lossLines } from '../orchestrate/worktrees/inspect.ts';
import type { ListedWorktree, Worktrees } from '../orchestrate/worktrees/worktrees.ts';
import type { Candidate, Sources } from './candidate.ts';

export async function worktreeCandidates(
  sources: Sources,
  note: (path: string, error: unknown) => void,
): Promise<Candidate[]> {
  const found = new Map<string, Candidate>();
  for (const folder of sources.folders()) {
    try {
      const project = await realpath(folder);
      const { worktrees } = await sources.projects.of(project);
      for (const worktree of await worktrees.list())
        found.set(worktree.path, candidateOf(sources, project, worktrees, worktree));
    } catch (error) {
      // A project that is not a repository has no worktrees.
      if (!(error instanceof Failure && error.code === 'not-configured')) note(folder, error);
    }
  }
  return [...found.values()];
}

function candidateOf(
  sources: Sources,
  project: string,
  worktrees: Worktrees,
  { name, path, state, locked, made }: ListedWorktree,
): Candidate {
  const { board, config, now, processStarts } = sources;
  const { runsDir } = sources.machine;
  const known = () => retentionOfWorktree(board(), { name, path }, now().getTime());
  const reasons = [
    ...(state === 'ready' ? [] : [`it is ${state}`]),
    ...(locked ? ['it is locked'] : []),
    ...(made === null ? ['svc did not create it'] : []),
  ];
  return {
    kind: 'worktrees',
    name,
    path,
    facts() {
      const { inUse, changedAt, attention } = known();
      const madeAt = Date.parse(made?.at ?? '');
      return {
        ...retentionPolicy(config(), 'worktrees'),
        changedAt: changedAt === null ? null : Math.max(changedAt, madeAt),
        inUse: reasons.length > 0 ? [...reasons, ...(inUse ?? [])] : inUse,
        attention,
      };
    },
    async look() {
      const inUse: string[] = [];
      for (const orchestrator of known().orchestrators)
        for (const agent of await findAgents({ runsDir, orchestrator, processStarts, now }))
          if (agent.state !== 'gone') inUse.push(`the agent of ${agent.ticket} is ${agent.state}`);
      const { losses } = await worktrees.inspect(name);
      return { inUse, unsaved: isLost(losses) ? lossLines(losses) : [] };
    },
    async remove(isDue) {
      const [orchestrator = ''] = known().orchestrators;
      const wanted = { orchestrator, plan: { project }, tickets: [name] };
      const [done] = await sources.cleanUp(wanted, isDue);
      if (done === undefined) throw new Failure('not-allowed-now', `${name} has changed meanwhile.`);
      if (done.kept !== null) throw new Failure('not-allowed-now', done.kept);
    },
  };
}
