// Commands that the project's owner wrote: `svc.orchestration.hooks`. They are for the shell as they stand; what
// comes from outside (branch, path) reaches them only as variables of their environment.
import type { Config } from '@svc/core';
import type { Step } from './run-step.ts';

export function hookSteps(config: Config, kind: 'setup' | 'teardown'): Step[] {
  return config.svc.orchestration.hooks[kind].map((command) =>
    shellStep(command, `svc.orchestration.hooks.${kind}`),
  );
}

export function shellStep(command: string, from: string): Step {
  return { title: command, from, program: '/bin/sh', args: ['-c', command] };
}
