// Where the files of an agent lie: `<runs folder>/<orchestrator>/workers/{output,pids}/`. Output is appended to by
// every attempt; each attempt has a pid file of its own, and there is never a second one of the same attempt.
import { join } from 'node:path';
import { safeSegment } from '@svc/core';
import { Failure } from '../../errors.ts';

export type AgentFiles = {
  pidFile: string;
  /** The stream of JSON lines. */
  output: string;
  errors: string;
};

const pidFileName = /^(.{1,120})\.(\d{1,6})\.pid$/;

export function pidFolder(runsDir: string, orchestrator: string): string {
  return join(runsDir, orchestrator, 'workers', 'pids');
}

/** `attempt` counts every launch of the ticket in this run, from 1, also those after a person's retry. */
export function agentFiles(
  runsDir: string,
  { orchestrator, ticket, attempt }: { orchestrator: string; ticket: string; attempt: number },
): AgentFiles {
  if (!safeSegment(orchestrator) || !safeSegment(ticket) || !Number.isInteger(attempt) || attempt < 1)
    throw new Failure('usage', `"${orchestrator}/${ticket}" (${attempt}) cannot be the name of an agent.`);
  const output = join(runsDir, orchestrator, 'workers', 'output');
  return {
    pidFile: join(pidFolder(runsDir, orchestrator), `${ticket}.${attempt}.pid`),
    output: join(output, `${ticket}-stream.jsonl`),
    errors: join(output, `${ticket}-stderr.log`),
  };
}

/** Whose pid file it is by its name; undefined for any other file. */
export function readPidFileName(name: string): { ticket: string; attempt: number } | undefined {
  const [, ticket, attempt] = pidFileName.exec(name) ?? [];
  if (ticket === undefined || attempt === undefined || !safeSegment(ticket)) return undefined;
  return { ticket, attempt: Number(attempt) };
}
