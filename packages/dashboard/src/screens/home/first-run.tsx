// The board before any work was seen.

import { Circle, CircleCheck } from 'lucide-react';
import { CopyButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import type { HealthReport } from '../../shell/trust.ts';

// Three steps to a live board, with finished steps checked.

export type FirstStep = { title: string; words: string; done: boolean; commands: string[] };

export function firstSteps(health: HealthReport, work: { workers: number; runs: number }): FirstStep[] {
  const feeds = (health.sources?.tunnels ?? []).filter(({ grade }) => grade !== 'disabled');
  return [
    {
      title: 'Start the daemon',
      words: `Running, version ${health.version}.`,
      done: true,
      commands: ['svc monitor start'],
    },
    {
      title: 'Connect the webhooks',
      words:
        feeds.length > 0
          ? 'A feed is set up.'
          : 'Pull requests, reviews, checks and deploys then appear here. Run this in the project’s folder.',
      done: feeds.length > 0,
      commands: ['setup-webhooks.sh', 'setup-webhooks.sh --linear-register'],
    },
    {
      title: 'Start a run, or open a worktree',
      words: 'Pass ticket ids from your tracker. Each ticket gets its own agent and worktree.',
      done: work.workers > 0 || work.runs > 0,
      commands: ['svc orchestrate start ABC-1 ABC-2', 'svc worktree create ABC-1'],
    },
  ];
}

export function FirstRun({ health, runs }: { health: HealthReport; runs: number }) {
  const steps = firstSteps(health, { workers: 0, runs });
  return (
    <section
      aria-labelledby="first-run"
      className="max-w-2xl rounded-card border border-line bg-surface p-6 max-wide:p-4"
    >
      <h2 id="first-run" className="text-lead">
        Three steps to a live board
      </h2>
      <p className="mt-1 text-small text-muted">
        Every ticket that an agent works on appears here as a card. This page updates by itself.
      </p>
      <ol className="mt-5 flex flex-col">
        {steps.map((step) => (
          <Step key={step.title} {...step} />
        ))}
      </ol>
    </section>
  );
}

function Step({ title, words, done, commands }: FirstStep) {
  const Icon = done ? CircleCheck : Circle;
  return (
    <li className="flex gap-3 border-line py-4 not-last:border-b first:pt-0 last:pb-0">
      <Icon
        aria-hidden="true"
        className={classNames('mt-0.5 size-5 shrink-0', done ? 'text-proven' : 'text-muted')}
      />
      <div className="min-w-0 flex-1">
        <h3 className="text-body">
          {title}
          <span className="sr-only">{done ? ': done' : ': to do'}</span>
        </h3>
        <p className="text-small text-muted">{words}</p>
        {!done && (
          <ul className="mt-2 flex flex-col gap-1">
            {commands.map((command) => (
              <li key={command} className="flex min-w-0 items-center gap-1">
                <code
                  className="min-w-0 flex-1 truncate rounded-control bg-sunken px-2 py-1.5 text-tiny text-text"
                  title={command}
                >
                  {command}
                </code>
                <CopyButton text={command} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}
