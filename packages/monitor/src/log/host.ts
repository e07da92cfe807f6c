// This machine's identity in its log: a permanent id, and its name.

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { EventHost } from '@svc/core';
import { ifPresentSync } from '@svc/lib/files';
import { writeFileAtomically } from '../disk/atomic-write.ts';

export async function identifyHost(dataDir: string): Promise<EventHost> {
  const file = join(dataDir, 'host-id');
  const known = ifPresentSync(() => readFileSync(file, 'utf8').trim());
  if (known !== undefined && /^[0-9a-f-]{36}$/.test(known)) return { id: known, name: hostname() };
  const id = crypto.randomUUID();
  await writeFileAtomically(file, `${id}\n`, { mode: 0o600, folderMode: 0o700 });
  return { id, name: hostname() };
}
