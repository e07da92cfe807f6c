// Random requests to join that must not be admitted, by somebody who has an invitation: wrong keys, names and lengths,
// names and ids of others, and bytes without a form.
import { formatRecordPath, ROSTER_HASH, type StoredRecord } from '@svc/contract/relay/record';
import type { Random } from '@svc/testkit';
import { invitationKeys } from '../io/records.ts';
import { newMachineKeys, seal, signRecord } from '../io/seal.ts';
import { parseInvitation } from '../roster.ts';

/** What a stranger may know: an invitation, the names in the team, and the ids of its machines. */
export type HostileKnowledge = { invitation: string; names: readonly string[]; ids: readonly string[] };

const odd = [
  '\u0000',
  '\u001b[2J',
  '\n',
  '\u202e',
  '\u200b',
  '\u2066',
  '\ufeff',
  '\u009b',
  '\u3164',
  '\ud800',
];
const smallOrder = ['A'.repeat(43), `AQ${'A'.repeat(41)}`, `7P${'_'.repeat(40)}38`];

export async function hostileJoin(
  random: Random,
  { invitation: line, names, ids }: HostileKnowledge,
  version = 1 + random.below(1_000_000_000),
): Promise<StoredRecord & { access: string }> {
  const { channelUrl = '', secret = '' } = parseInvitation(line) ?? {};
  const channel = channelUrl.slice(channelUrl.lastIndexOf('/') + 1);
  const { id, join, access } = await invitationKeys(secret);
  const keys = await newMachineKeys();
  const good = { sign: keys.signPublic, agree: keys.agreePublic, person: 'zoe', machine: 'laptop' };
  const text = (): string =>
    String.fromCodePoint(...Array.from({ length: 1 + random.below(40) }, () => random.below(0xd7ff)));
  const name = (): string => random.pick(['person', 'machine']);
  const damages: (() => unknown)[] = [
    () => ({
      ...good,
      agree: random.pick([...smallOrder, 'AAAA', `${good.agree}A`, good.agree.slice(1), '']),
    }),
    () => ({ ...good, agree: random.pick<unknown>([false, 7, [], {}, true]) }),
    () => ({
      ...good,
      sign: random.pick([...smallOrder, `${good.sign}A`, good.sign.slice(2), 'x'.repeat(5_000)]),
    }),
    () => ({ ...good, [name()]: random.pick(ids) }),
    () => ({ ...good, [name()]: ids[0]?.replace(/^./, 'ａ') }),
    () => ({ ...good, person: random.pick(names) }),
    () => ({ ...good, person: random.pick(names).toUpperCase() }),
    () => ({ ...good, person: ` ${random.pick(names)}` }),
    () => ({
      ...good,
      person: random.pick(names).replaceAll('o', '0').replaceAll('i', 'і').replaceAll('e', 'е'),
    }),
    () => ({ ...good, [name()]: `${random.pick(names)}${random.pick(odd)}` }),
    () => ({ ...good, [name()]: `${random.pick(odd)}${text()}` }),
    () => ({ ...good, [name()]: 'x'.repeat(91 + random.below(50_000)) }),
    () => ({ ...good, [name()]: random.pick(['', ' ', '*', '...', '-']) }),
    () => ({ ...good, [name()]: random.pick<unknown>([false, 7, true, [], {}, ['x']]) }),
    () => random.pick<unknown>([false, 7, 'join', [], [good], {}, { person: 'zoe' }]),
  ];
  const place = {
    machine: id,
    kind: 'join' as const,
    hash: random.chance(0.05) ? 'B'.repeat(22) : ROSTER_HASH,
  };
  const value = place.hash === ROSTER_HASH ? random.pick(damages)() : good;
  const body = await seal({ channel, ...place }, { epoch: 0, key: join }, version, { key: 'join', value });
  return { ...(await signRecord(keys, channel, formatRecordPath(place), body)), access };
}
