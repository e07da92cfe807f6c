// The team: who is in it, what its machines work on, and how it changes.

import type { Board } from '../../kernel/board/board.ts';
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import { goneWith, momentIn, type Routes, route } from '../../kernel/http/route.ts';
import type { Since } from '../../kernel/log/event-filter.ts';
import { api } from '../api.ts';
import type { Team } from './io/team.ts';
import { memberNamed } from './names.ts';
import { commandViews } from './team-view.ts';

export function teamRoutes(options: {
  team: Team;
  state: StateAccess;
  boardAt: (moment: Since, signal: AbortSignal) => Promise<Board>;
  now: () => number;
}): Routes {
  const { team, state, boardAt, now } = options;
  const answer = () => ({ team: team.status() });
  return (app) => {
    route(app, api.getTeam, answer);
    route(app, api.getTeamBoard, async ({ query: { at, machine } }, reply) => {
      const moment = momentIn('at', at, now());
      const board = moment === undefined ? boardOf(state) : await boardAt(moment, goneWith(reply));
      const view = team.view(board, moment === undefined);
      if (machine === undefined) return view;
      const named = memberNamed(view.machines, machine);
      if (named !== undefined) return { ...view, machines: [named] };
      throw new Failure(
        'usage',
        `No machine of the team is named ${machine}.`,
        'List them: svc team members',
      );
    });
    route(app, api.createTeam, async ({ body }) => {
      await team.create(body);
      return answer();
    });
    route(app, api.inviteToTeam, ({ body }) => team.invite(body));
    route(app, api.joinTeam, async ({ body }) => {
      await team.join(body);
      return answer();
    });
    route(app, api.removeFromTeam, async ({ body }) => {
      await team.remove(body.machine);
      return answer();
    });
    route(app, api.listTeamCommands, () => ({ commands: commandViews(boardOf(state)) }));
    route(app, api.commandMachine, async ({ body }) => {
      boardOf(state);
      return { command: await team.command(body) };
    });
    route(app, api.leaveTeam, async () => {
      await team.leave();
      return answer();
    });
  };
}
