// Whether the SQLite file is whole. The check runs in a process of its own: it cannot be interrupted, only ended.
import { existsSync } from 'node:fs';
import { type DoctorFinding, doctorFinding } from '@svc/core';
import type { Machine } from '../../config/environment.ts';
import type { DoctorTools } from './check.ts';

const MAX_BYTES = 64 * 1024;
const SCRIPT = `
const { DatabaseSync } = require('node:sqlite');
try {
  const database = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 2000 });
  const rows = database.prepare('PRAGMA quick_check(3)').all().map((row) => Object.values(row)[0]);
  console.log(JSON.stringify({ said: rows }));
} catch (error) {
  console.log(JSON.stringify({ said: [error.message] }));
}`;

export async function checkDatabase({ databaseFile }: Machine, tools: DoctorTools): Promise<DoctorFinding[]> {
  if (!existsSync(databaseFile)) return [doctorFinding('database', 'ok', 'there is no database yet')];
  const end = await tools.run({
    file: process.execPath,
    args: ['--no-warnings', '-e', SCRIPT, databaseFile],
    environment: {},
    timeoutMs: tools.patienceMs,
    maxBytes: MAX_BYTES,
  });
  if (end.ended !== 'exit' || end.exitCode !== 0)
    return [
      doctorFinding('database', 'unknown', 'the database could not be checked', {
        evidence: end.ended === 'timeout' ? `it takes longer than ${tools.patienceMs / 1000} s` : end.ended,
        remedy: `Check it at leisure: sqlite3 '${databaseFile}' 'PRAGMA quick_check'`,
      }),
    ];
  const { said } = JSON.parse(end.stdout) as { said: string[] };
  if (said.length === 1 && said[0] === 'ok')
    return [doctorFinding('database', 'ok', 'the database is whole')];
  return [
    doctorFinding('database', 'broken', `the database is damaged: ${databaseFile}`, {
      evidence: said.join('; ').slice(0, 300),
      remedy: 'Run: svc-monitor.sh restart. It sets the file aside and builds the index again from the log',
    }),
  ];
}
