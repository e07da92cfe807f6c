// From nothing to a live board in three steps, with what is done ticked.
import type { HealthReport } from '../../shell/trust.ts';

export type FirstStep = { title: string; words: string; done: boolean; commands: string[] };

export function firstSteps(health: HealthReport, work: { workers: number; runs: number }): FirstStep[] {
  const feeds = (health.sources?.tunnels ?? []).filter(({ grade }) => grade !== 'disabled');
  return [
    {
      title: 'Start the daemon',
      words: `It runs, version ${health.version}.`,
      done: true,
      commands: ['svc monitor start'],
    },
    {
      title: 'Connect the webhooks',
      words:
        feeds.length > 0
          ? 'A feed is set up.'
          : 'Then pull requests, reviews, checks and deploys arrive by themselves. Run it in the project’s folder.',
      done: feeds.length > 0,
      commands: ['setup-webhooks.sh', 'setup-webhooks.sh --linear-register'],
    },
    {
      title: 'Start a run, or open a worktree',
      words: 'Name tickets of your tracker. Each gets an agent and a worktree of its own.',
      done: work.workers > 0 || work.runs > 0,
      commands: ['svc orchestrate start ABC-1 ABC-2', 'svc worktree create ABC-1'],
    },
  ];
}
