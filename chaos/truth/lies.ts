// What a helper may try to report: what only the code host, the daemon or a person can know.
import type { Step } from './steps.ts';

type Lie = Extract<Step, { do: 'lie' }>;

export function lieOf(
  { topic, repository, run, ticket, merge, commit }: Lie,
  shaOf: (repository: string, commit: string) => string,
): Record<string, unknown> {
  const shared = { source: 'orchestrator', via: 'local' };
  const [mergeSha, sha] = [shaOf(repository, merge), shaOf(repository, commit)];
  const worker = { orchestrator: run, ticket };
  switch (topic) {
    case 'contained':
      return {
        ...shared,
        event: 'orchestrator.deploy.descendant_checked',
        scope: { repo: repository, mergeSha, sha },
        detail: { contains: true, by: 'git' },
      };
    case 'succeeded':
      return {
        ...shared,
        event: 'orchestrator.deploy.succeeded',
        scope: { ...worker, repo: repository, mergeSha, environment: 'production' },
        detail: { state: 'success' },
      };
    case 'accepted':
      return { ...shared, event: 'orchestrator.deploy.accepted', scope: worker, detail: { by: 'kim' } };
    case 'merged':
      return {
        ...shared,
        event: 'codehost.pr.merged',
        scope: { repo: repository, pr: 1, mergeSha },
        detail: { merged: true },
      };
    case 'status':
      return {
        ...shared,
        event: 'codehost.deployment_status.success',
        scope: { repo: repository, sha: mergeSha, environment: 'production', deploymentId: 7 },
        detail: { state: 'success' },
      };
    case 'policy':
      return {
        ...shared,
        event: 'monitor.config.applied',
        scope: {},
        detail: { project: '/lax', served: true, keys: [], deploy: {}, others: 'default' },
      };
    case 'worker-done':
      return {
        ...shared,
        event: 'orchestrator.worker.status_changed',
        scope: { ...worker, repo: repository },
        detail: { to: 'done' },
      };
  }
}
