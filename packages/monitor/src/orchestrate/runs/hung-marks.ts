// Which agents were ended because they had gone silent. Kept beside their pid files, so that a restart between that
// end and the next look does not take it for a death of another kind.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../errors.ts';
import { agentFiles, pidFolder } from '../agents/agent-files.ts';

type Attempt = { orchestrator: string; ticket: string; attempt: number };

const PID = '.pid';
const HUNG = '.hung';

export async function markHung(runsDir: string, agent: Attempt): Promise<void> {
  const path = agentFiles(runsDir, agent).pidFile.slice(0, -PID.length) + HUNG;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, '', { mode: 0o600 });
}

/** By ticket and attempt: `ENG-1.2`. */
export async function hungMarks(runsDir: string, orchestrator: string): Promise<Set<string>> {
  try {
    const names = await readdir(join(pidFolder(runsDir, orchestrator)));
    return new Set(names.filter((name) => name.endsWith(HUNG)).map((name) => name.slice(0, -HUNG.length)));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return new Set();
    throw error;
  }
}
