// How agents ended, where that decides what is done next: ended because they had gone silent, or never started because
// their program could not be. Kept beside their pid files, so that a restart before the next look does not take it for
// a death of another kind.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Revivals } from '@svc/core';
import { namesIn } from '@svc/lib/files';
import { agentFiles, pidFolder } from '../agents/launch.ts';

type Attempt = { orchestrator: string; ticket: string; attempt: number };
export type MarkedEnd = Exclude<Revivals['lastEnd'], 'died'>;

const PID = '.pid';
const suffixes: Readonly<Record<MarkedEnd, string>> = { hanging: '.hung', unstartable: '.unstartable' };

export async function markEnd(runsDir: string, agent: Attempt, end: MarkedEnd): Promise<void> {
  const path = agentFiles(runsDir, agent).pidFile.slice(0, -PID.length) + suffixes[end];
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, '', { mode: 0o600 });
}

/** By ticket and attempt: `ENG-1.2`. */
export async function endMarks(runsDir: string, orchestrator: string): Promise<Map<string, MarkedEnd>> {
  const marks = new Map<string, MarkedEnd>();
  for (const name of await namesIn(pidFolder(runsDir, orchestrator)))
    for (const end of ['hanging', 'unstartable'] as const)
      if (name.endsWith(suffixes[end])) marks.set(name.slice(0, -suffixes[end].length), end);
  return marks;
}
