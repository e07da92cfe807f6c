// svc team create | invite | join | members | status | commands | remove | leave | serve
import { hostname } from 'node:os';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import { machineHead } from '../../../cli/kit/on-machine.ts';
import { routeVerb } from '../../../cli/kit/route-verb.ts';
import { openSession } from '../../../cli/kit/session.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { ageText, counted, plainText, timeText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { VERSION } from '../../../cli/kit/version.ts';
import { runUntilStopped } from '../../../daemon/lifetime.ts';
import { tokenFile } from '../../../kernel/access/token-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import { type Host, thisProcess } from '../../../kernel/instance/control.ts';
import { ownVersion } from '../../../kernel/instance/version-drift.ts';
import { CREATE_KEY_VARIABLE } from '../../feeds/io/provision-channel.ts';
import { readTeamFile } from '../io/team-file.ts';
import { LONGEST_CHOSEN_NAME } from '../names.ts';
import { recordRefusals } from '../roster.ts';
import { personOf } from './person.ts';

type TeamAnswer = Answer<'GET', '/api/team'>;
type Status = NonNullable<TeamAnswer['team']>;
type Command = Answer<'POST', '/api/team/commands'>['command'];

export function teamVerbs(terminal: Terminal, host: Host = thisProcess): CommandUnknownOpts {
  return verbGroup(
    'team',
    {
      summary: 'Share a board with the machines of a team',
      details: 'What is shared is encrypted on this machine. Show it: svc board --team',
      example: ['svc team create --relay https://relay.example.com', 'svc team status'],
    },
    [
      createVerb(terminal),
      inviteVerb(terminal),
      joinVerb(terminal),
      membersVerb(terminal),
      statusVerb(terminal),
      commandsVerb(terminal),
      removeVerb(terminal),
      leaveVerb(terminal),
      serveVerb(terminal, host),
    ],
  );
}

const person = ['--person <name>', 'who you are (default: your name in git)'] as const;
const machineName = ['--machine-name <name>', 'its name in the team (default: the host name)'] as const;

async function whoOf(
  terminal: Terminal,
  given: { person?: string | undefined; machineName?: string | undefined },
) {
  return {
    person: given.person ?? (await personOf(terminal)),
    machine: given.machineName ?? hostname().slice(0, LONGEST_CHOSEN_NAME),
  };
}

function createVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('create', {
    summary: 'Create a team at a relay, as its administrator',
    details: `Where the relay asks for a create key, it is read from ${CREATE_KEY_VARIABLE}.`,
    example: 'svc team create --relay https://relay.example.com --name web',
    route: 'POST /api/team/create',
  })
    .requiredOption('--relay <url>', 'the address of a svc-relay')
    .option('--name <name>', 'how the team is named', 'team')
    .option(...person)
    .option(...machineName)
    .option('--json', 'print JSON')
    .action(async ({ relay, name, json, ...given }) => {
      const createKey = terminal.environment[CREATE_KEY_VARIABLE];
      const who = await whoOf(terminal, given);
      const body = { relay, name, ...who, ...(createKey !== undefined && { createKey }) };
      const answer = await (await needDaemon(terminal)).post('/api/team/create', { body });
      if (json) return printJson(terminal, answer);
      terminal.out(`Created the team ${plainText(name)}. Invite a machine: svc team invite`);
    });
}

const inviteVerb = routeVerb('invite', 'POST /api/team/invite', {
  summary: 'Make an invitation for one machine, valid for an hour',
  details: 'It is a secret: send it in a private message.',
  example: ['svc team invite', 'svc team invite --person kim'],
  fields: { person: ['--person <name>', 'for a further machine of this member'] },
  print: (terminal, { invitation }) =>
    terminal.out(`On the other machine, once, within an hour:\nsvc team join '${invitation}'`),
});

function joinVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('join', {
    summary: 'Join a team with an invitation',
    details: 'Exit code 1 when the administrator’s machine has not answered yet; it is admitted later then.',
    example: "svc team join 'https://relay.example.com/AbC#…'",
    route: 'POST /api/team/join',
  })
    .argument('<invitation>', 'the line that svc team invite printed')
    .option(...person)
    .option(...machineName)
    .option('--json', 'print JSON')
    .action(async (invitation, { json, ...given }) => {
      const body = { invitation, ...(await whoOf(terminal, given)) };
      const answer = await (await needDaemon(terminal)).post('/api/team/join', { body });
      const { team } = answer;
      if (json) printJson(terminal, answer);
      else if (team?.state === 'live')
        terminal.out(`Joined ${plainText(team.name)}. Show its board: svc board --team`);
      else
        terminal.out(
          `Not admitted yet: ${team?.why ?? 'unknown'}. ${team?.remedy ?? ''} See: svc team status`,
        );
      if (team?.state !== 'live') throw new AnswerIsNo();
    });
}

const membersVerb = routeVerb('members', 'GET /api/team', {
  summary: 'List the machines and when each was last heard',
  example: 'svc team members',
  json: ({ team }) => team?.members ?? [],
  print: (terminal, { team }) => {
    if (team === null) return terminal.out(NO_TEAM);
    printTable(
      terminal,
      team.members.map((one) => [machineHead(terminal, one), one.role, one.id]),
    );
  },
});

const NO_TEAM = 'This machine is in no team. Create one: svc team create --relay <url>';

const statusVerb = routeVerb('status', 'GET /api/team', {
  summary: 'Show the connection, and records that were refused',
  details: 'Exit code 1 when something is wrong.',
  example: 'svc team status',
  print: (terminal, { team }) => {
    if (team === null) return terminal.out(NO_TEAM);
    printStatus(terminal, team);
    if (team.state !== 'live' || team.refused.length > 0 || team.problems.length > 0) throw new AnswerIsNo();
  },
});

function printStatus(terminal: Terminal, team: Status): void {
  const now = terminal.now();
  terminal.out(plainText(`${team.name} at ${team.relay}, as ${team.machine} (${team.person}, ${team.role})`));
  const why = team.why === null ? '' : `: ${team.why}. ${team.remedy ?? ''}`;
  const colour = team.state === 'live' ? 'green' : 'yellow';
  terminal.out(paint(terminal, colour, `${team.state} since ${timeText(team.since, now)}${why}`.trim()));
  terminal.out(
    `${counted(team.members.length, 'machine')}, ${counted(team.published, 'record')} published, ${team.pending} pending`,
  );
  for (const { text, remedy } of team.problems)
    terminal.out(paint(terminal, 'red', plainText(`${text}. ${remedy}`)));
  for (const expiresAt of team.invitations)
    terminal.out(`an invitation is open until ${timeText(expiresAt, now)}`);
  for (const { reason, machine: of, count, at } of team.refused) {
    const text = reason in recordRefusals ? recordRefusals[reason as keyof typeof recordRefusals] : reason;
    terminal.out(
      paint(
        terminal,
        'red',
        plainText(`refused: ${text} (${of}), ${counted(count, 'time')}, ${timeText(at, now)}`),
      ),
    );
  }
}

const commandsVerb = routeVerb('commands', 'GET /api/team/commands', {
  summary: 'List what machines of the team have asked of each other',
  details: 'Commands from this machine and to it, and what came of each.',
  example: ['svc team commands', 'svc attention ack run-1/ABC-12/deploy-timeout --machine kim-laptop'],
  json: ({ commands }) => commands,
  print: (terminal, { commands }) => {
    if (commands.length === 0) terminal.out('No commands.');
    printTable(
      terminal,
      commands.map((one) => [
        ageText(one.at, terminal.now()),
        plainText(`${one.direction === 'sent' ? 'to' : 'from'} ${one.machine} (${one.person})`),
        plainText(commandText(one)),
        plainText(
          [one.state, one.why, one.remedy]
            .flatMap((part) => (part === null ? [] : [part.replace(/\.$/, '')]))
            .join('. '),
        ),
      ]),
    );
  },
});

function commandText({ command }: Command): string {
  switch (command.verb) {
    case 'acknowledge':
      return `acknowledge ${command.item}`;
    case 'hand-over':
      return `hand over ${command.item} to ${command.to}`;
    case 'answer':
      return `answer ${command.subject}: ${command.answer}`;
    case 'pause':
      return `pause ${command.run}`;
    case 'retry-deploy':
      return `retry the deploy of ${command.ticket}`;
    case 'send':
      return `send a message to ${command.ticket}`;
  }
}

const removeVerb = routeVerb('remove', 'POST /api/team/remove', {
  summary: 'Remove a machine from the team, and change the keys',
  example: 'svc team remove kim-laptop',
  fields: { machine: ['<machine>', 'its name or id'] },
  print: (terminal, _, { machine: name }) =>
    terminal.out(`Removed ${plainText(name)}. It can read nothing that is published from now on.`),
});

const leaveVerb = routeVerb('leave', 'POST /api/team/leave', {
  summary: 'Leave the team: remove its keys and what was published',
  example: 'svc team leave',
  print: (terminal) => terminal.out('Left the team.'),
});

function serveVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('serve', {
    summary: 'Show the team’s board, read-only, for a wall screen',
    details:
      'Runs in the foreground instead of the usual daemon, on 127.0.0.1 and without agents. Every request needs the token, which the reverse proxy adds after it has checked who asks. Logs go to standard output.\nExit codes: 0 stopped, 1 in no team, 6 already running or port taken, 130 Ctrl-C',
    example: 'svc team serve',
  }).action(async () => {
    const { machine: here } = openSession(terminal);
    if ((await readTeamFile(here.configDir)) === undefined)
      throw new Failure(
        'not-allowed-now',
        'This machine is in no team.',
        'Join one first: svc monitor start; svc team join <invitation>; svc monitor stop',
      );
    terminal.err(`Every request needs the token in ${tokenFile(here.dataDir)}`);
    await runUntilStopped({
      machine: here,
      environment: terminal.environment,
      folder: here.home,
      version: ownVersion(here.versionFile, VERSION),
      now: terminal.now,
      host,
      readOnly: true,
      logFile: undefined,
    });
  });
}
