// The real step function with one promise broken at a time, and the complaint that the judge must make.
import type { DeployWorker } from '../../workers/deploy-fields.ts';
import type { DeployFact, DeployStep, FailedDeployment } from '../deploy-worker.ts';
import { deployStep } from '../lifecycle.ts';
import type { Step } from './judge.ts';

const isFailure = (state: string) => state === 'failure' || state === 'error';

export const faults: Record<string, { step: Step; complaint: string }> = {
  'counts every failure status as an attempt': {
    step: (worker, fact) => {
      const { deploy } = worker;
      if (deploy === null || fact.kind !== 'deployment' || !isFailure(fact.state))
        return deployStep(worker, fact);
      const others = deploy.attempts.filter(({ deploymentId }) => deploymentId !== fact.id);
      return withAttempts(worker, others, fact);
    },
    complaint: 'a repeated fact changed the worker',
  },
  'counts a failure again when it is reported again later': {
    step: (worker, fact) => {
      const { deploy } = worker;
      if (deploy === null || fact.kind !== 'deployment' || deploy.attempts.at(-1)?.deploymentId === fact.id)
        return deployStep(worker, fact);
      const others = deploy.attempts.filter(({ deploymentId }) => deploymentId !== fact.id);
      return withAttempts(worker, others, fact);
    },
    complaint: 'a deployment was counted twice',
  },
  'ignores the commit': {
    step: (worker, fact) =>
      deployStep(worker, fact.kind === 'deployment' ? { ...fact, sha: worker.merge?.sha ?? fact.sha } : fact),
    complaint: 'deploying by a foreign deployment',
  },
  'ignores the environment': {
    step: (worker, fact) =>
      deployStep(worker, fact.kind === 'deployment' ? { ...fact, environment: 'production' } : fact),
    complaint: 'deploying by a foreign deployment',
  },
  'assumes that every commit contains the merge': {
    step: (worker, fact) => {
      if (fact.kind !== 'deployment') return deployStep(worker, fact);
      return deployStep(deployStep(worker, { ...fact, kind: 'contains' }).worker, fact);
    },
    complaint: 'deploying by a foreign deployment',
  },
  'leaves an exhausted budget by itself': {
    step: (worker, fact) => {
      const { deploy } = worker;
      if (deploy?.result !== 'budget-exhausted' || fact.kind !== 'deployment')
        return deployStep(worker, fact);
      const eased = { ...worker, deploy: { ...deploy, attempts: deploy.attempts.slice(1), result: null } };
      const step = deployStep(eased, fact);
      return step.worker === eased ? { worker, effects: [] } : step;
    },
    complaint: 'an exhausted worker moved without a person',
  },
  'lets a timeout end an exhausted budget': {
    step: (worker, fact) =>
      worker.deploy?.result === 'budget-exhausted' && fact.kind === 'time'
        ? { worker: { ...worker, status: 'stalled' }, effects: [] }
        : deployStep(worker, fact),
    complaint: 'an exhausted worker moved without a person',
  },
  'has a budget of four': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      const { deploy } = step.worker;
      if (deploy?.result !== 'budget-exhausted' || step.worker === worker) return step;
      return { ...step, worker: { ...step.worker, deploy: { ...deploy, result: null } } };
    },
    complaint: 'failed did not become exhausted at failure',
  },
  'counts a fourth failure': {
    step: (worker, fact) =>
      worker.deploy?.attempts.length === 3
        ? withAttempts(worker, worker.deploy.attempts.slice(1), fact)
        : deployStep(worker, fact),
    complaint: 'more than three attempts',
  },
  'forgets the deadline': {
    step: (worker, fact) => (fact.kind === 'time' ? { worker, effects: [] } : deployStep(worker, fact)),
    complaint: 'merged did not become stalled at time',
  },
  'moves the deadline at every start': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      const { deploy } = step.worker;
      if (worker.status !== 'merged' || step.worker.status !== 'deploying' || deploy === null) return step;
      return { ...step, worker: { ...step.worker, deploy: { ...deploy, deadline: '2030-01-01T00:00:00Z' } } };
    },
    complaint: 'deploying did not become stalled at time',
  },
  'accepts a worker that claims to be done': {
    step: (worker, fact) =>
      fact.kind === 'claimed' && fact.status === 'done' && worker.status !== 'done'
        ? { worker: { ...worker, status: 'done', claim: null }, effects: [] }
        : deployStep(worker, fact),
    complaint: 'done without a merge',
  },
  'treats a merge as a deploy': {
    step: (worker, fact) =>
      deployStep({ ...worker, policy: { ...worker.policy, skipDeployVerification: true } }, fact),
    complaint: 'done without a production success',
  },
  'reverts done': {
    step: (worker, fact) =>
      worker.status === 'done' && fact.kind === 'deployment' && isFailure(fact.state)
        ? { worker: { ...worker, status: 'deploy-failed' }, effects: [] }
        : deployStep(worker, fact),
    complaint: 'done changed',
  },
  'misses a success whose start it did not see': {
    step: (worker, fact) =>
      worker.status === 'merged' && fact.kind === 'deployment' && fact.state === 'success'
        ? { worker, effects: [] }
        : deployStep(worker, fact),
    complaint: 'merged did not become done at success',
  },
  'never ships what timed out': {
    step: (worker, fact) =>
      worker.status === 'stalled' && fact.kind === 'deployment'
        ? { worker, effects: [] }
        : deployStep(worker, fact),
    complaint: 'stalled did not become done at success',
  },
  'never asks for a proof': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      return { ...step, effects: step.effects.filter(({ kind }) => kind !== 'prove') };
    },
    complaint: 'a proof was not requested as needed',
  },
  'has an effect at every repetition': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      if (worker.status !== 'deploying' || step.worker !== worker) return step;
      return { ...step, effects: [{ kind: 'write-signal' }] };
    },
    complaint: 'a repeated fact had effects',
  },
  'treats a late start of a failed deployment as a new one': {
    step: (worker, fact) => {
      const { deploy, status } = worker;
      if (status !== 'deploy-failed' || deploy === null) return deployStep(worker, fact);
      const forgetful = { ...worker, deploy: { ...deploy, deploymentId: null } };
      const step = deployStep(forgetful, fact);
      return step.worker === forgetful ? { ...step, worker } : step;
    },
    complaint: 'deploying by a deployment that had failed',
  },
  'counts failures from before a retry again': {
    step: (worker, fact) => {
      const { deploy } = worker;
      if (deploy?.retried === undefined) return deployStep(worker, fact);
      const retried = { ...deploy.retried, failedUpTo: null };
      const forgetful = { ...worker, deploy: { ...deploy, retried } };
      const step = deployStep(forgetful, fact);
      return step.worker === forgetful ? { ...step, worker } : step;
    },
    complaint: 'the attempts are not the failed deployments',
  },
  'overwrites canceled': {
    step: (worker, fact) =>
      worker.status === 'canceled' && fact.kind === 'merged'
        ? deployStep({ ...worker, status: 'merging' }, fact)
        : deployStep(worker, fact),
    complaint: 'no such move: canceled -merged-> merged',
  },
  'forgets to write the signal file': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      return { ...step, effects: step.effects.filter(({ kind }) => kind !== 'write-signal') };
    },
    complaint: 'the signal file was not written',
  },
  'leaves attention open': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      return { ...step, effects: step.effects.filter(({ kind }) => kind !== 'resolve') };
    },
    complaint: 'deploy-failed is left open',
  },
  'raises no attention': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      return { ...step, effects: step.effects.filter(({ kind }) => kind !== 'raise') };
    },
    complaint: 'deploy-failed is missing',
  },
  'keeps state that does not survive a restart': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      const kept = worker as { deadline?: Map<string, string> };
      if (step.worker.deploy === null) return step;
      const deadline =
        kept.deadline instanceof Map ? kept.deadline : new Map([['at', '2030-01-01T00:00:00Z']]);
      if (fact.kind === 'time' && deadline.has('at')) return { worker, effects: [] };
      return step.worker === worker
        ? step
        : { ...step, worker: { ...step.worker, deadline } as typeof worker };
    },
    complaint: 'merged did not become stalled at time',
  },
  'changes the worker in place': {
    step: (worker, fact) => {
      const step = deployStep(worker, fact);
      if (step.worker !== worker) worker.status = step.worker.status;
      return step;
    },
    complaint: 'the worker was changed in place',
  },
};

/** The step as if only these attempts had been counted; the others are restored afterwards. */
function withAttempts(worker: DeployWorker, attempts: FailedDeployment[], fact: DeployFact): DeployStep {
  if (worker.deploy === null) return deployStep(worker, fact);
  const pretended = { ...worker, deploy: { ...worker.deploy, attempts } };
  const { worker: after, effects } = deployStep(pretended, fact);
  if (after === pretended || after.deploy === null) return { worker, effects };
  const added = after.deploy.attempts.slice(attempts.length);
  const all = [...worker.deploy.attempts, ...added];
  return { worker: { ...after, deploy: { ...after.deploy, attempts: all } }, effects };
}
