// Requests to join that must not be admitted, by somebody who has an invitation. They go through the real relays to the
// administrator's daemon; none may change its file, or the list of members.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostileJoin } from '../../packages/monitor/src/team/testing/hostile-joins.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import type { TeamWorld } from './world.ts';

const AT_ONCE = 8;
const BUSY_MS = 200;
/** A machine that joins after them must still be admitted within this. */
const LAST_MS = 60_000;

export type JoinVerdict = { sent: number; stored: number; refused: number; problems: string[] };

export async function tryJoins({ machines }: TeamWorld, count: number, random: Random): Promise<JoinVerdict> {
  const [admin] = machines;
  if (admin === undefined || count === 0) return { sent: 0, stored: 0, refused: 0, problems: [] };
  const { invitation } = await admin.ask<{ invitation: string }>('/api/team/invite', {});
  const stored = (): string => readFileSync(join(admin.home.home, '.config/svc/team.json'), 'utf8');
  const before = stored();
  const members = (await admin.status())?.members ?? [];
  const knowledge = {
    invitation,
    names: members.flatMap(({ person, machine }) => [person, machine]),
    ids: members.map(({ id }) => id),
  };
  const channelUrl = invitation.slice(0, invitation.indexOf('#'));
  let version = 0;
  let taken = 0;
  const one = async (): Promise<void> => {
    while (version < count) {
      version += 1;
      const { access, signature, path, body } = await hostileJoin(random, knowledge, version);
      const headers = { 'x-svc-signature': signature, authorization: `Bearer ${access}` };
      for (;;) {
        const { status } = await fetch(`${channelUrl}/${path}`, { method: 'PUT', headers, body });
        if (status === 200) taken += 1;
        if (status !== 429 && status !== 503) break;
        await sleep(BUSY_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  const refusedNow = async (): Promise<number> =>
    ((await admin.status())?.refused ?? []).reduce((sum, refusal) => sum + refusal.count, 0);
  // The relay keeps the newest of a path, so the daemon may not see each of them.
  await until(async () => (await refusedNow()) > 0);
  await sleep(LAST_MS / 6);
  const after = await admin.status();
  const problems: string[] = [];
  if (stored() !== before) problems.push('a request to join changed the file of the administrator');
  if (after?.members.length !== members.length) problems.push('a hostile machine is a member');
  if (after?.state !== 'live') problems.push(`the administrator is ${after?.state}`);
  return { sent: count, stored: taken, refused: await refusedNow(), problems };
}
