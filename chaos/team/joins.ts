// Requests to join that must not be admitted, by somebody who has invitations. They go through the real relays to the
// administrator's daemon; none may change its file, or the list of members. The relay keeps only the newest of a path, so the
// next one to a path is sent when the daemon has refused the one before: each that the relay stores reaches the daemon.
// Afterwards an honest machine joins: it must be admitted in time, and by everyone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostileJoin } from '../../packages/monitor/src/features/team/testing/hostile-joins.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { joinTeam, type Machine, type TeamWorld } from './world.ts';

/** Each has a path of its own at the relay. */
const INVITATIONS = 40;
const BUSY_MS = 200;
/** A machine that joins after them must be live within this. */
const LAST_MS = 60_000;

export async function tryJoins(world: TeamWorld, count: number, random: Random) {
  const { machines } = world;
  const [admin] = machines;
  /**
   * The relay has refused some of the requests by itself, and stored the others. The daemon has refused what it has
   * seen: at least what was stored, and more if a stream was opened again. `seconds`: how long the honest machine took.
   */
  const counts = { sent: 0, refusedByRelay: 0, stored: 0, refusedByAdmin: 0, seconds: 0 };
  const verdict = { ...counts, problems: [] as string[] };
  if (admin === undefined || count === 0) return verdict;
  const invite = async (): Promise<string> =>
    (await admin.ask<{ invitation: string }>('/api/team/invite', {})).invitation;
  const invitations: string[] = [];
  for (let number = 0; number < INVITATIONS; number += 1) invitations.push(await invite());
  const stored = (): string => readFileSync(join(admin.home.home, '.config/svc/team.json'), 'utf8');
  const before = stored();
  const members = (await admin.status())?.members ?? [];
  const knowledge = {
    names: members.flatMap(({ person, machine }) => [person, machine]),
    ids: members.map(({ id }) => id),
  };

  /** Whether the relay has stored it. */
  async function sendOne(invitation: string): Promise<boolean> {
    verdict.sent += 1;
    const record = await hostileJoin(random, { ...knowledge, invitation }, verdict.sent);
    const { access, signature, path, body } = record;
    const headers = { 'x-svc-signature': signature, authorization: `Bearer ${access}` };
    const channelUrl = invitation.slice(0, invitation.indexOf('#'));
    for (;;) {
      const { status } = await fetch(`${channelUrl}/${path}`, { method: 'PUT', headers, body });
      if (status !== 429 && status !== 503) return status === 200;
      await sleep(BUSY_MS);
    }
  }

  /** Not of the members: those whom an invitation names. */
  const refusedNow = async (): Promise<number> =>
    ((await admin.status())?.refused ?? [])
      .filter((refusal) => !knowledge.names.includes(refusal.machine))
      .reduce((sum, refusal) => sum + refusal.count, 0);
  const refusedBefore = await refusedNow();
  while (verdict.sent < count) {
    const refused = await refusedNow();
    const some = invitations.slice(0, count - verdict.sent);
    const results = await Promise.all(some.map(sendOne));
    const taken = results.filter((isStored) => isStored).length;
    verdict.stored += taken;
    verdict.refusedByRelay += results.length - taken;
    const isSeen = await until(async () => (await refusedNow()) - refused >= taken).catch(() => false);
    if (isSeen) continue;
    verdict.problems.push(
      `of ${taken} requests that the relay stored, the daemon has refused ${(await refusedNow()) - refused}`,
    );
    break;
  }
  verdict.refusedByAdmin = (await refusedNow()) - refusedBefore;
  const after = await admin.status();
  if (stored() !== before) verdict.problems.push('a request to join changed the file of the administrator');
  if (after?.members.length !== members.length) verdict.problems.push('a hostile machine is a member');
  if (after?.state !== 'live') verdict.problems.push(`the administrator is ${after?.state}`);
  if (verdict.refusedByAdmin === 0) verdict.problems.push('no request reached the administrator');

  const honest = await world.addMachine();
  const start = performance.now();
  await joinTeam(admin, honest);
  const isMember = async ({ status }: Machine): Promise<boolean> =>
    (await status())?.members.some(({ machine }) => machine === honest.name) === true;
  await until(
    async () =>
      (await honest.status())?.state === 'live' &&
      (await Promise.all([...machines, honest].map(isMember))).every((is) => is),
  ).catch(async () => {
    verdict.problems.push(`an honest machine was not admitted: ${JSON.stringify(await honest.status())}`);
  });
  const tookMs = performance.now() - start;
  verdict.seconds = tookMs / 1000;
  if (tookMs > LAST_MS)
    verdict.problems.push(`an honest machine was admitted after ${verdict.seconds.toFixed(1)} s`);
  return verdict;
}
