// What people and the API ask of the team: create, invite, join, remove, leave, and how it is.
import {
  type Board,
  draft,
  formatInvitation,
  INVITATION_MS,
  parseInvitation,
  presenceOf,
  type RecordRefusal,
  recordRefusals,
  relayOfChannel,
  type TeamBoard,
  type TeamStatus,
  teamView,
} from '@svc/core';
import { every, type Rounds } from '@svc/lib/rounds';
import { within } from '@svc/lib/timeout';
import { Failure } from '../errors.ts';
import type { EventLog } from '../log/event-log.ts';
import { ownRelayUrl, provisionOwnChannel } from '../tunnel/provision-channel.ts';
import { type Asked, createCommands } from './commands.ts';
import { invitationKeys, makeJoin } from './records.ts';
import { isRefusedAs, putRecord } from './relay-link.ts';
import { newKey, newMachineKeys } from './seal.ts';
import { createSync, type TeamOptions } from './sync.ts';
import { readTeamFile, removeTeamFile, type TeamFile } from './team-file.ts';

const JOIN_WAIT_MS = 20_000;
const CHECK_MS = 5_000;

const FILE_REMEDY = 'Restore ~/.config/svc/team.json from a backup, or give it up: svc team leave';
const LOOK_REMEDY = 'Someone may be changing records at the relay. See which: svc team status';
const RETRY_REMEDY = 'It is tried again until it works. Check the network and the relay';
const LARGE_REMEDY = 'They are shown only on this machine. The others see them when they are smaller';

type Who = { person: string; machine: string };

export type Team = ReturnType<typeof createTeam>;

export function createTeam({
  log,
  ...given
}: Omit<TeamOptions, 'append'> & { log: Pick<EventLog, 'append' | 'appendOnce'> }) {
  const { configDir, state, logger, now } = given;
  const append: TeamOptions['append'] = (line) =>
    line.deliveryId === undefined ? log.append(line) : log.appendOnce(line);
  const options = { ...given, append };
  const listeners = new Set<() => void>();
  const sync = createSync({
    ...options,
    onChange() {
      for (const listener of listeners) listener();
    },
  });
  const commands = createCommands(options);
  let problem: string | null = null;
  let checks: Rounds | undefined;
  let unsubscribe = nothing;

  function requireTeam(): TeamFile {
    const file = sync.file();
    if (file !== undefined) return file;
    throw new Failure(
      'not-allowed-now',
      problem ?? 'This machine is in no team.',
      'Create one: svc team create --relay <url>, or join one: svc team join <invitation>',
    );
  }

  function requireAdmin(): TeamFile {
    const own = requireTeam();
    if (own.admin === own.keys.id) return own;
    throw new Failure(
      'not-allowed-now',
      'Only the machine that created the team can do this.',
      'See which one it is: svc team members',
    );
  }

  function requireNone(): void {
    if (sync.file() === undefined && problem === null) return;
    throw new Failure(
      'not-allowed-now',
      problem ?? 'This machine is in a team already.',
      'Leave it first: svc team leave',
    );
  }

  async function resume(): Promise<void> {
    await state.ready;
    const found = await readTeamFile(configDir);
    if (found !== undefined) await sync.resume(found);
  }

  async function runChecks(): Promise<void> {
    const file = sync.file();
    if (file === undefined) return;
    await sync.retryRoster();
    await sync.expire();
    await commands.expire(file);
  }

  const presence = (id: string) => presenceOf(sync.heardAt(id), now());

  function status(): TeamStatus | null {
    const file = sync.file();
    const mode = sync.mode();
    if (file === undefined) return null;
    const { keys, person, machine, roster, channelUrl, invitations, used } = file;
    const { tooLarge: _large, failing: _failing, rosterFailing: _roster, ...figures } = sync.figures();
    return {
      name: roster?.team ?? 'unknown until this machine is admitted',
      relay: relayOfChannel(channelUrl) ?? '',
      person,
      machine,
      role: file.admin === keys.id ? 'admin' : 'member',
      ...mode,
      since: new Date(mode.since).toISOString(),
      ...figures,
      invitations: invitations
        .filter(({ id, expiresAt }) => expiresAt > now() && !used.includes(id))
        .map(({ expiresAt }) => new Date(expiresAt).toISOString()),
      members: (roster?.members ?? []).map(({ agree: _agree, ...member }) => ({
        ...member,
        self: member.id === keys.id,
        ...presence(member.id),
      })),
    };
  }

  /** Why it does not work; null if it does. Undefined: there is no team. */
  function health() {
    if (problem !== null)
      return {
        why: problem,
        remedy: FILE_REMEDY,
        published: 0,
        pending: 0,
        refused: [],
        isConnecting: false,
      };
    if (sync.file() === undefined) return undefined;
    const { state: current, since, why, remedy } = sync.mode();
    const { refused, published, pending, tooLarge, failing, rosterFailing } = sync.figures();
    const isDown = current === 'unreachable' || current === 'removed';
    const problems: { text: string; fix: string }[] = [];
    if (isDown)
      problems.push({
        text: `${why ?? 'the relay cannot be reached'}, since ${new Date(since).toISOString()}`,
        fix: remedy ?? '',
      });
    for (const { reason, machine, count } of refused)
      problems.push({
        text: `${recordRefusals[reason as RecordRefusal]} (${machine}, ${count} in the last hour)`,
        fix: LOOK_REMEDY,
      });
    if (rosterFailing !== null)
      problems.push({
        text: `the relay has not confirmed the newest list of members, so a machine that was removed may still read: ${rosterFailing}`,
        fix: RETRY_REMEDY,
      });
    if (failing !== null && !isDown)
      problems.push({ text: `${pending} changes are not published: ${failing}`, fix: RETRY_REMEDY });
    if (tooLarge > 0)
      problems.push({ text: `${tooLarge} values are too large to be shared`, fix: LARGE_REMEDY });
    return {
      why: problems.length === 0 ? null : problems.map(({ text }) => text).join('; '),
      remedy: problems[0]?.fix ?? '',
      refused,
      published,
      pending,
      isConnecting: current === 'connecting' || current === 'joining',
    };
  }

  return {
    status,
    /** Of a past board nothing is known about presence. */
    view(board: Board, isLive: boolean): TeamBoard {
      const { keys } = requireTeam();
      const unknown = { heardAt: null, presence: 'unknown' } as const;
      return teamView(board, { self: keys.id, presence: isLive ? presence : () => unknown });
    },
    health: () => health(),
    async create({
      relay,
      name,
      createKey,
      ...who
    }: Who & { relay: string; name: string; createKey?: string | undefined }) {
      requireNone();
      const keys = await newMachineKeys();
      const made = await provisionOwnChannel(ownRelayUrl(relay), {
        post: fetch,
        createKey,
        team: keys.signPublic,
      });
      const self = { id: keys.id, ...who, role: 'admin' as const, agree: keys.agreePublic };
      const file: TeamFile = {
        ...newcomer(keys, who),
        channelUrl: made.url,
        admin: keys.id,
        adminAgree: keys.agreePublic,
        teamKeys: [{ epoch: 1, key: newKey() }],
        rosterVersion: now(),
        roster: { team: name, names: newKey(), members: [self], removed: [] },
        machines: { [keys.id]: keys.signPublic },
      };
      await sync.begin(file);
      await sync.publishRoster().catch(async (error: unknown) => {
        await sync.leave(file);
        throw error;
      });
      sync.enter('connecting');
      await sync.open();
    },
    async invite() {
      const { channelUrl, admin: id } = requireAdmin();
      const secret = newKey();
      const invitation = { id: (await invitationKeys(secret)).id, secret, expiresAt: now() + INVITATION_MS };
      await sync.changeRoster((own) => ({ ...own, invitations: [...own.invitations, invitation] }));
      return {
        invitation: formatInvitation({ channelUrl, secret, admin: id }),
        expiresAt: new Date(invitation.expiresAt).toISOString(),
      };
    },
    async join({ invitation: line, ...who }: Who & { invitation: string }) {
      requireNone();
      const invitation = parseInvitation(line);
      if (invitation === undefined)
        throw new Failure(
          'usage',
          'This is not an invitation.',
          'Copy the whole line that svc team invite printed, in quotes.',
        );
      const { channelUrl, secret, admin: id } = invitation;
      ownRelayUrl(relayOfChannel(channelUrl) ?? '');
      const keys = await newMachineKeys();
      const next: TeamFile = {
        ...newcomer(keys, who),
        channelUrl,
        admin: id,
        invitation: secret,
      };
      const { access, ...record } = await makeJoin(next, secret);
      await putRecord(channelUrl, record, access).catch((error: unknown) => {
        if (!isRefusedAs(error, 'not-a-member') && !isRefusedAs(error, 'old-version')) throw error;
        throw new Failure(
          'not-allowed-now',
          'The relay does not accept the invitation: it was used, or has expired.',
          'Ask for a new one: svc team invite',
        );
      });
      await sync.begin(next);
      sync.enter('joining', 'waiting for the administrator’s machine', 'It answers when its daemon runs.');
      await sync.open();
      const admitted = new Promise<void>((resolve) => {
        const check = (): void => (sync.mode().state === 'live' ? resolve() : undefined);
        listeners.add(check);
        check();
      });
      await within(admitted, JOIN_WAIT_MS, () => undefined);
      listeners.clear();
    },
    person: () => sync.file()?.person,
    command: (asked: Asked) => commands.send(requireTeam(), asked),
    async remove(machine: string) {
      const { roster, keys } = requireAdmin();
      const member = roster?.members.find((one) => one.id === machine || one.machine === machine);
      if (member === undefined || member.id === keys.id)
        throw new Failure(
          'usage',
          `No other machine of the team is named ${machine}.`,
          'List them: svc team members',
        );
      await sync.remove(member.id);
    },
    async leave() {
      if (problem !== null) await removeTeamFile(configDir);
      else {
        const own = requireTeam();
        const others = (own.roster?.members.length ?? 0) > 1;
        if (own.admin === own.keys.id && others)
          throw new Failure(
            'not-allowed-now',
            'The machine that created the team cannot leave it while it has other members.',
            'Remove them first: svc team remove <machine>',
          );
        await sync.leave(own);
      }
      problem = null;
      await append(draft('team.roster.changed', {}, { machines: [] }));
    },
    start(): void {
      unsubscribe = state.onChange(() => sync.boardChanged());
      checks = every(CHECK_MS, runChecks, (error) =>
        logger.warn({ err: error }, 'commands of the team could not be ended'),
      );
      resume().catch((error: unknown) => {
        // It was stopped first.
        if (!state.progress().ready) return;
        problem = error instanceof Failure ? error.message : 'the keys of the team cannot be read';
        logger.error({ err: error }, 'the team could not be opened');
      });
    },
    async stop(): Promise<void> {
      unsubscribe();
      await Promise.all([checks?.stop(), sync.stop()]);
    },
  };
}

function nothing(): void {}

/** Before this machine is admitted. */
function newcomer(keys: Awaited<ReturnType<typeof newMachineKeys>>, { person, machine }: Who) {
  const nobody = { teamKeys: [], rosterVersion: 0, roster: null, machines: {}, adminAgree: null };
  const noInvitations = { invitation: null, invitations: [], used: [] };
  return { keys: keys as TeamFile['keys'], person, machine, ...nobody, ...noInvitations };
}
