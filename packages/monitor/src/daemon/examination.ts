// The whole examination of `svc doctor`, for the dashboard: the same program, asked for JSON. It looks at files,
// programs and clouds from outside, as a person would; one at a time, bounded in time.

import type { ApiAnswer, api, Environment } from '@svc/core';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { singleFlight } from '@svc/lib/single-flight';
import { Failure } from '../errors.ts';

type Examination = ApiAnswer<typeof api.examine>;

const PATIENCE_MS = 90_000;
const MOST_BYTES = 4 * 1024 * 1024;
const BY_HAND = 'Run it yourself: svc doctor';

/** Whoever asks while one is under way gets that one's answer. */
export function createExamination(options: {
  /** How this program is started; empty when it cannot be. */
  program: readonly string[];
  environment: Environment;
  run?: RunCommand;
}): () => Promise<Examination> {
  const { program, environment, run = runCommand } = options;

  async function examine(): Promise<Examination> {
    const [file, ...words] = program;
    if (file === undefined)
      throw new Failure('not-in-this-version', 'The daemon does not know its own program.', BY_HAND);
    const end = await run({
      file,
      args: [...words, 'doctor', '--json'],
      environment: Object.fromEntries(
        Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ),
      timeoutMs: PATIENCE_MS,
      maxBytes: MOST_BYTES,
    });
    if (end.ended === 'timeout')
      throw new Failure('busy', `The examination took more than ${PATIENCE_MS / 1000} s.`, BY_HAND);
    // 1 is its answer that something is broken.
    if (end.ended !== 'exit' || end.exitCode > 1)
      throw new Failure('start-failed', 'The examination could not be run.', BY_HAND);
    return JSON.parse(end.stdout) as Examination;
  }

  return singleFlight(examine);
}
