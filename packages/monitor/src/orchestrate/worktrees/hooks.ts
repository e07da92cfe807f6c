// Commands that the project's owner wrote: `svc.orchestration.hooks`. The shell gets them as they stand, with the six
// variables filled in. What comes from outside (branch, path) is a value there and never a part of the command.
import { type Config, fillCommand, type SetupVariables } from '@svc/core';
import type { Step } from './run-step.ts';

export function hookSteps(config: Config, kind: 'setup' | 'teardown', variables: SetupVariables): Step[] {
  return config.svc.orchestration.hooks[kind].map((command) =>
    filledStep(command, `svc.orchestration.hooks.${kind}`, variables),
  );
}

/** The environment of the step has to hold the variables too. */
export function filledStep(command: string, from: string, variables: SetupVariables): Step {
  return { ...shellStep(fillCommand(command, variables), from), title: command };
}

export function shellStep(command: string, from: string): Step {
  return { title: command, from, program: '/bin/sh', args: ['-c', command] };
}
