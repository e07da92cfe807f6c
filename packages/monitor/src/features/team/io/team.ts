// What people and the API ask of the team: create, invite, join, remove, leave, and how it is.
import { messageOf } from '@svc/lib/errors';
import { every, type Rounds } from '@svc/lib/rounds';
import { within } from '@svc/lib/timeout';
import type { Board } from '../../../kernel/board/board.ts';
import { Failure } from '../../../kernel/failure.ts';
import { draft } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { relayOfChannel } from '../../feeds/feed-channel.ts';
import { ownRelayUrl, provisionOwnChannel } from '../../feeds/io/provision-channel.ts';
import type { TeamBoard, TeamStatus } from '../api.ts';
import { LONGEST_CHOSEN_NAME, memberNamed, nameIn } from '../names.ts';
import {
  formatInvitation,
  INVITATION_MS,
  parseInvitation,
  type RecordRefusal,
  recordRefusals,
} from '../roster.ts';
import { presenceOf, teamView } from '../team-view.ts';
import { type Asked, createCommands } from './commands.ts';
import { invitationKeys, makeJoin } from './records.ts';
import { isRefusedAs, putRecord } from './relay-link.ts';
import { newKey, newMachineKeys } from './seal.ts';
import { createSync, type TeamOptions } from './sync.ts';
import { readTeamFile, removeTeamFile, type TeamFile } from './team-file.ts';
import { findingTexts } from './watch.ts';

const JOIN_WAIT_MS = 20_000;
const CHECK_MS = 5_000;

const LOOK_REMEDY = 'Someone may be changing records at the relay. See which: svc team status';
const LEAVE_REMEDY = 'See: svc monitor logs. To give it up: svc team leave';
const RETRY_REMEDY = 'It is tried again until it works. Check the network and the relay';
const LARGE_REMEDY = 'They are shown only on this machine. The others see them when they are smaller';
/** For machines that were not admitted. */
const joinRemedies: Partial<Record<string, string>> = {
  'wrong-join': 'It was not admitted. Invite the machine that you expect again: svc team invite',
  'taken-name':
    'It was not admitted. If it belongs to that person: svc team invite --person <name>; otherwise it needs another name',
};

export type TeamProblem = { text: string; remedy: string };

type Who = { person: string; machine: string };

export type HeartbeatOption = Pick<TeamOptions, 'heartbeatMs'>;

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
  let problem: TeamProblem | null = null;
  /** Why the last round of checks did not end. */
  let checkFailing: string | null = null;
  let checks: Rounds | undefined;
  let unsubscribe = nothing;

  function requireTeam(): TeamFile {
    const file = sync.file();
    if (file !== undefined) return file;
    throw new Failure(
      'not-allowed-now',
      problem?.text ?? 'This machine is in no team.',
      problem?.remedy ?? 'Create one: svc team create --relay <url>, or join one: svc team join <invitation>',
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
      problem?.text ?? 'This machine is in a team already.',
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
    await sync.takeKept();
    await commands.expire(file);
    checkFailing = null;
  }

  const presence = (id: string) => {
    const doubts = sync.figures().findings.filter(({ machine }) => machine === id);
    return presenceOf(sync.heardAt(id), now(), {
      silentMs: sync.silentMs,
      doubt: doubts.map(({ kind, name }) => findingTexts[kind].text.replace('%', () => name))[0] ?? null,
    });
  };

  function status(): TeamStatus | null {
    const file = sync.file();
    const mode = sync.mode();
    if (file === undefined) return null;
    const { keys, person, machine, roster, channelUrl, invitations, used } = file;
    const { refused, published, pending } = sync.figures();
    return {
      name: roster?.team ?? 'unknown until this machine is admitted',
      relay: relayOfChannel(channelUrl) ?? '',
      person,
      machine,
      role: file.admin === keys.id ? 'admin' : 'member',
      ...mode,
      since: new Date(mode.since).toISOString(),
      refused,
      published,
      pending,
      problems: problems(),
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

  /** Everything that is wrong while the relay can be reached, each with its fix. Refused records are listed apart. */
  function problems(): TeamProblem[] {
    const { pending, tooLarge, failing, rosterFailing, ...figures } = sync.figures();
    const found: TeamProblem[] = figures.findings.map(({ kind, name, since }) => ({
      text: `${findingTexts[kind].text.replace('%', () => name)}, since ${new Date(since).toISOString()}`,
      remedy: findingTexts[kind].fix,
    }));
    const add = (text: string, remedy: string): void => void found.push({ text, remedy });
    for (const name of figures.unusable)
      add(
        `the key of ${name} cannot be used, so it is left out of the team`,
        'Remove it: svc team remove <machine>, then invite it again: svc team invite',
      );
    for (const name of figures.exceeded)
      add(
        `${name} publishes more than a machine may in an hour; its newest values are shown later`,
        'Ask its person what runs there, or remove it: svc team remove <machine>',
      );
    if (figures.isAhead)
      add(
        'the list of members has a date in the future, because the clock of this machine was ahead',
        'Set the clock. If it is right, invitations and removals work; only a new team (svc team create) notices again when a machine keeps an old key',
      );
    if (rosterFailing !== null)
      add(
        `the relay has not confirmed the newest list of members, so a machine that was removed may still read: ${rosterFailing}`,
        RETRY_REMEDY,
      );
    if (failing !== null && !isDown()) add(`${pending} changes are not published: ${failing}`, RETRY_REMEDY);
    if (tooLarge > 0) add(`${tooLarge} values are too large to be shared`, LARGE_REMEDY);
    if (checkFailing !== null)
      add(
        `what is due in the team could not be done: ${checkFailing}`,
        'It is tried again. See: svc monitor logs',
      );
    return found;
  }

  function isDown(): boolean {
    const { state: current } = sync.mode();
    return current === 'unreachable' || current === 'removed';
  }

  /** Why it does not work; null if it does. Undefined: there is no team. */
  function health() {
    if (problem !== null)
      return {
        why: problem.text,
        remedy: problem.remedy,
        published: 0,
        pending: 0,
        refused: [],
        isConnecting: false,
      };
    if (sync.file() === undefined) return undefined;
    const { state: current, since, why, remedy } = sync.mode();
    const { refused, published, pending } = sync.figures();
    const all: TeamProblem[] = isDown()
      ? [
          {
            text: `${why ?? 'the relay cannot be reached'}, since ${new Date(since).toISOString()}`,
            remedy: remedy ?? '',
          },
        ]
      : [];
    for (const { reason, machine, count } of refused)
      all.push({
        text: `${recordRefusals[reason as RecordRefusal]} (${machine}, ${count} in the last hour)`,
        remedy: joinRemedies[reason] ?? LOOK_REMEDY,
      });
    all.push(...problems());
    return {
      why: all.length === 0 ? null : all.map(({ text }) => text).join('; '),
      remedy: all[0]?.remedy ?? '',
      refused,
      published,
      pending,
      isConnecting: current === 'connecting' || current === 'joining',
    };
  }

  return {
    status,
    /** On a past board, presence is unknown. */
    view(board: Board, isLive: boolean): TeamBoard {
      const { keys } = requireTeam();
      const unknown = { heardAt: null, presence: 'unknown', doubt: null } as const;
      return teamView(board, { self: keys.id, presence: isLive ? presence : () => unknown });
    },
    health: () => health(),
    async create({
      relay,
      name,
      createKey,
      ...names
    }: Who & { relay: string; name: string; createKey?: string | undefined }) {
      requireNone();
      const who = namesIn(names);
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
        teamKeys: [{ epoch: 1, key: newKey(), since: now() }],
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
    /** `person`: a member, whose further machine it is for. */
    async invite({ person }: { person?: string | undefined }) {
      const { channelUrl, admin: id } = requireAdmin();
      const secret = newKey();
      const invitation = {
        id: (await invitationKeys(secret)).id,
        secret,
        expiresAt: now() + INVITATION_MS,
        listed: true,
        person: person === undefined ? null : usableName('person', person),
      };
      await sync.changeRoster((own) => ({ ...own, invitations: [...own.invitations, invitation] }));
      return {
        invitation: formatInvitation({ channelUrl, secret, admin: id }),
        expiresAt: new Date(invitation.expiresAt).toISOString(),
      };
    },
    async join({ invitation: line, ...names }: Who & { invitation: string }) {
      requireNone();
      const who = namesIn(names);
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
      sync.enter(
        'joining',
        'waiting for the administrator’s machine',
        'It answers when its daemon runs. If it does, svc team status there shows whether it has refused this machine, and why.',
      );
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
      const member = memberNamed(roster?.members ?? [], machine);
      if (member === undefined || member.id === keys.id)
        throw new Failure(
          'usage',
          `No other machine of the team is named ${machine}.`,
          'List them: svc team members',
        );
      await sync.remove(member.id).catch((error: unknown) => {
        const isStored = sync.file()?.machines[member.id] === undefined;
        throw new Failure(
          'relay-unavailable',
          isStored
            ? `${member.machine} was removed here, but the relay has not confirmed it, so it can still read what is published: ${messageOf(error)}`
            : `${member.machine} was not removed: ${messageOf(error)}`,
          isStored ? `${RETRY_REMEDY}. See: svc team status` : 'Try it again. See: svc monitor logs',
        );
      });
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
    /** The configuration has changed: what is shared. */
    reconfigure: () => sync.boardChanged(),
    start(): void {
      unsubscribe = state.onChange(() => sync.boardChanged());
      checks = every(CHECK_MS, runChecks, (error) => {
        checkFailing = messageOf(error);
        logger.warn({ err: error }, 'what is due in the team could not be done');
      });
      resume().catch((error: unknown) => {
        // It was stopped first.
        if (!state.progress().ready) return;
        problem =
          error instanceof Failure
            ? { text: error.message, remedy: error.remedy ?? LEAVE_REMEDY }
            : { text: `the team could not be opened: ${messageOf(error)}`, remedy: LEAVE_REMEDY };
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

function namesIn({ person, machine }: Who): Who {
  return { person: usableName('person', person), machine: usableName('machine', machine) };
}

function usableName(option: string, text: string): string {
  const name = nameIn(text);
  if (name !== undefined) return name;
  throw new Failure(
    'usage',
    `The name of the ${option} cannot be used.`,
    `Choose another one: --${option} <name>. It has at most ${LONGEST_CHOSEN_NAME} letters of one script and digits, and not 22 characters like an id.`,
  );
}

/** Before this machine is admitted. */
function newcomer(keys: Awaited<ReturnType<typeof newMachineKeys>>, { person, machine }: Who) {
  const nobody = { teamKeys: [], rosterVersion: 0, roster: null, machines: {}, adminAgree: null };
  const noInvitations = { invitation: null, invitations: [], used: [] };
  return { keys: keys as TeamFile['keys'], person, machine, ...nobody, ...noInvitations };
}
