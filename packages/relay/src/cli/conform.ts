// `svc-relay conform <url>`: the rows of the conformance kit against any server, as a table.
import { type Result, type Row, runRows } from '../conform/kit.ts';
import { rows } from '../conform/rows.ts';
import { Unmet } from '../conform/wire.ts';
import { loopback } from '../limits/limits.ts';
import { Failure } from './failure.ts';
import { type conformSettings, origin, readSecretFile, type Values } from './settings.ts';
import type { Terminal } from './terminal.ts';

type Settings = Values<typeof conformSettings>;

export async function conform(terminal: Terminal, url: string, settings: Settings): Promise<void> {
  const base = origin(url);
  if (base === undefined)
    throw new Failure(
      'usage',
      'The server address must be an http or https URL without credentials or a query.',
      'For example: svc-relay conform http://127.0.0.1:7500',
    );
  const createKey = createKeyFor(base, settings);
  const chosen = rowsNamed(settings.rows);
  const widths = [5, 11, Math.max(...chosen.map(({ text }) => text.length))] as const;
  terminal.out(lineOf(widths, 'Row', 'Result', 'What', 'Detail'));
  const results = await runRows(chosen, {
    base,
    createKey,
    waitMs: settings.timeout * 1000,
    onResult: ({ row, outcome, detail }) =>
      terminal.out(lineOf(widths, row.id, outcome, row.text, printable(detail))),
  }).catch((error: unknown) => {
    if (!(error instanceof Unmet)) throw error;
    throw new Failure('server-unreachable', `${base} cannot be checked: ${printable(error.message)}.`);
  });
  report(terminal, results);
}

function report(terminal: Terminal, results: readonly Result[]): void {
  const count = (outcome: Result['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  terminal.out(`${count('pass')} pass, ${count('fail')} fail, ${count('not offered')} not offered`);
  const failed = results.filter(({ outcome }) => outcome === 'fail').map(({ row }) => row.id);
  if (failed.length > 0)
    throw new Failure(
      'not-conforming',
      `The server fails ${failed.join(', ')}.`,
      'The clauses are in docs/relay/protocol.md.',
    );
}

function rowsNamed(ids: readonly string[]): readonly Row[] {
  const unknown = ids.find((id) => rows.every((row) => row.id !== id));
  if (unknown !== undefined)
    throw new Failure(
      'usage',
      `--rows: unknown row ${printable(unknown)}.`,
      `Known rows: ${rows.map(({ id }) => id).join(', ')}`,
    );
  return ids.length === 0 ? rows : rows.filter(({ id }) => ids.includes(id));
}

/** Never sent over http to another machine. */
function createKeyFor(base: string, { createKeyFile }: Settings): string | null {
  if (createKeyFile === '') return null;
  const { protocol, hostname } = new URL(base);
  const isHere = hostname === 'localhost' || loopback.has(hostname.replace(/^\[|\]$/g, ''));
  if (protocol !== 'https:' && !isHere)
    throw new Failure('usage', 'The create key is not sent over http to another machine.', 'Use https.');
  return readSecretFile(createKeyFile, 'create key');
}

function lineOf(widths: readonly number[], ...cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd();
}

/** Details contain text from the server. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e\u2026]/g, '?').slice(0, 300);
}
