// Whether all team boards are the same and show what the machines' own boards show, and whether anything readable of the
// team is in what the relays have stored and logged.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TeamBoard, TeamStatus } from '../../packages/monitor/src/features/team/api.ts';
import { sharedInView } from '../../packages/monitor/src/features/team/shared-things.ts';
import type { ChaosWorker } from './world.ts';

/** What a machine shows and reports at the end. */
export type Evidence = {
  name: string;
  workers: readonly ChaosWorker[];
  board: TeamBoard;
  status: TeamStatus | null;
};

type Row = TeamBoard['machines'][number];
/** By kind and key, the value as text with its fields in order. */
type Things = Map<string, string>;

/** What is shared in the own row. */
function thingsOf(row: Row): Things {
  return new Map(
    sharedInView(row).map(({ kind, key, value }) => [`${kind} ${key}`, sortedText(withoutNames(value))]),
  );
}

/** Who did something with an item is shown by others as its machine, the only one that they know. */
function withoutNames(value: object): object {
  const unnamed = (part: object | null | undefined): unknown => part && { ...part, by: '' };
  const { acknowledged, handedOver } = value as { acknowledged?: object | null; handedOver?: object | null };
  return { ...value, acknowledged: unnamed(acknowledged), handedOver: unnamed(handedOver) };
}

function sortedText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

/** A whole team board as one text, without what differs by nature: the position in the log, and presence. */
export function boardText({ machines }: TeamBoard): string {
  const rows = machines.map((row) => {
    const { id, machine, person, role } = row;
    const things = [...thingsOf(row)].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return sortedText({ id, machine, person, role, things });
  });
  return rows.toSorted().join('\n');
}

export type Verdict = ReturnType<typeof judgeBoards>;

/** `lost`: on the own board, not on another's; `outdated`: with another value; `left`: no longer on the own board. */
export function judgeBoards(all: readonly Evidence[]) {
  const counts = { things: 0, lost: 0, outdated: 0, left: 0, differentBoards: 0 };
  const verdict = { ...counts, problems: [] as string[] };
  const problem = (text: string): void => void verdict.problems.push(text);
  for (const owner of all) {
    const ownRow = owner.board.machines.find(({ self }) => self);
    const own = ownRow === undefined ? new Map<string, string>() : thingsOf(ownRow);
    verdict.things += own.size;
    for (const problemOfWorker of workerProblems(owner, ownRow)) problem(problemOfWorker);
    for (const reader of all.filter((one) => one !== owner)) {
      const row = reader.board.machines.find(({ machine }) => machine === owner.name);
      const shown = row === undefined ? new Map<string, string>() : thingsOf(row);
      for (const [thing, text] of own) {
        const found = shown.get(thing);
        if (found === text) continue;
        verdict[found === undefined ? 'lost' : 'outdated'] += 1;
        problem(
          `${reader.name} ${found === undefined ? 'has lost' : 'has an old value of'} ${owner.name}'s ${thing}`,
        );
      }
      for (const thing of shown.keys()) {
        if (own.has(thing)) continue;
        verdict.left += 1;
        problem(`${reader.name} still has ${owner.name}'s ${thing}`);
      }
    }
  }
  const texts = new Set(all.map(({ board }) => boardText(board)));
  verdict.differentBoards = texts.size;
  if (texts.size !== 1) problem(`${texts.size} different team boards`);
  for (const { name, status, board } of all) {
    if (status?.state !== 'live' || status.pending > 0)
      problem(`${name} is ${status?.state}, ${status?.pending} changes are not published`);
    for (const { reason, machine, count } of status?.refused ?? [])
      problem(`${name} has refused ${count} records of ${machine}: ${reason}`);
    for (const { machine, presence } of board.machines)
      if (presence !== 'here') problem(`${name} shows ${machine} as ${presence}`);
  }
  return verdict;
}

/** What the workers wrote last is on the own board. */
function workerProblems({ name, workers }: Evidence, row: Row | undefined): string[] {
  return workers.flatMap(({ ticket, run, status }) => {
    const shown = row?.workers.find((one) => one.ticket === ticket && one.orchestrator === run);
    const now = shown === undefined || shown.removed ? null : shown.status;
    return now === status ? [] : [`${name} shows ${ticket} as ${now}, its file has ${status}`];
  });
}

/** Each as it is, in base64 at any of its three alignments, and in an address. */
function formsOf(secret: string): string[] {
  const encoded = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.from(`${'\0'.repeat(shift)}${secret}`)
      .toString('base64')
      .replaceAll('=', '');
    // The first and the last characters also depend on what is beside it.
    const inner = text.slice(shift === 0 ? 0 : shift + 1, -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set([secret, encodeURIComponent(secret), ...encoded])];
}

/** The files that have one of the secrets in any form. `folders` are searched whole. */
export function searchSecrets(
  folders: readonly string[],
  secrets: readonly string[],
  work: string,
): { forms: number; hits: string[] } {
  const forms = [...new Set(secrets.flatMap(formsOf))];
  const list = join(work, 'secrets');
  writeFileSync(list, `${forms.join('\n')}\n`);
  const command = ['--recursive', '--text', '--only-matching', '--fixed-strings', `--file=${list}`];
  try {
    const found = execFileSync('grep', [...command, ...folders], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    });
    return { forms: forms.length, hits: [...new Set(found.trimEnd().split('\n'))] };
  } catch (error) {
    // grep ends with 1 if it has found nothing.
    if (error instanceof Error && 'status' in error && error.status === 1)
      return { forms: forms.length, hits: [] };
    throw error;
  }
}
