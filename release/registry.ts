// What the registry says: known weaknesses of what ships, and who has the names that we publish under. A registry
// that does not answer makes these unknown; it never makes them fine.
import { type Audit, readAudit } from './audit.ts';
import type { Licensed } from './licences.ts';
import { run } from './run-command.ts';
import { root } from './version-files.ts';

const PATIENCE_MS = 60_000;

export async function auditOf(shipped: readonly Licensed[]): Promise<Audit> {
  // With what is only for development: of that, what is bundled ships.
  const { stdout } = await run('npm', ['audit', '--json', '--fetch-retries=0'], {
    cwd: root,
    timeoutMs: PATIENCE_MS,
  });
  return readAudit(stdout, shipped);
}

/** A line to read before the first `npm publish`: a name on the registry belongs to whoever had it first. */
export async function nameLine(name: string): Promise<string> {
  const words = ['view', name, 'version', 'description', '--json', '--fetch-retries=0'];
  const { code, stdout } = await run('npm', words, { cwd: root, timeoutMs: PATIENCE_MS });
  return readName(name, code, stdout);
}

/** `printed`: what `npm view … --json` wrote. */
export function readName(name: string, code: number, printed: string): string {
  if (code === 0) {
    const { version, description = '' } = JSON.parse(printed) as { version: string; description?: string };
    return `name ${name}: on the registry, ${version}, "${description}". Is it yours?`;
  }
  if (!printed.includes('E404')) return `name ${name}: unknown, the registry did not say`;
  return `name ${name}: not on the registry${name.startsWith('@') ? '; its scope must be yours' : ''}`;
}
