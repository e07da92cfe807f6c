// The clouds around the daemon, on this machine: the code host behind the real client program, the tracker, the
// relay, and a model vendor. They know the same as the log, so that no reconciliation finds news.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Board, PullRequest } from '@svc/core';
import { startFakeCodehost } from '../codehost/fake-codehost.ts';
import { ghEnvironment } from '../codehost/gh-environment.ts';
import { startFakeModels } from '../models/fake-models.ts';
import type { JsonObject } from '../payloads/example.ts';
import { startPublicRelay } from '../relay/public-relay.ts';
import { startFakeTracker } from '../tracker/fake-tracker.ts';
import { startTapeBackends } from './backends.ts';
import { PREFIX, people, plannedTickets, repos } from './product.ts';
import { stateId, type TicketStateName, ticketStates } from './tracker-payloads.ts';
import type { Voice } from './voice.ts';

/** They open nothing. */
export const tokens = { codehost: 'tape-token', tracker: 'lin_api_tape', models: 'tape-model-key' };

const SUMMARY =
  'Ten of fifteen tickets are under way. TID-106 waits for a person: three deployments ran out of memory. TID-128 has two open threads. Nothing else is late.';

export type TapeWorld = Awaited<ReturnType<typeof openTapeWorld>>;

export async function openTapeWorld({
  home,
  board,
  voice,
  seed,
}: {
  home: string;
  board: Board;
  voice: Voice;
  seed: number;
}) {
  const folder = join(home, 'clouds');
  mkdirSync(folder);
  const relay = await startPublicRelay({ pingMs: 5_000 });
  const codehost = await startFakeCodehost({ folder });
  const tracker = await startFakeTracker();
  const models = await startFakeModels({ key: tokens.models });
  const backends = await startTapeBackends(seed);
  models.says(SUMMARY, { input: 5_200, output: 140 });
  codehost.addToken(tokens.codehost);
  for (const repo of repos) codehost.cloud.addRepo(repo);
  for (const pullRequest of board.pullRequests.values()) hearPullRequest(pullRequest);
  fillTracker();

  function hearPullRequest(known: PullRequest): void {
    const { number, state, headSha, merge } = known;
    const time = Date.parse(known.openedAt ?? known.lastAt);
    const ended = merge === null ? known.closedAt : merge.at;
    codehost.cloud.addPullRequest(known.repo, {
      number,
      title: known.title ?? '',
      state: state === 'merged' ? 'MERGED' : state === 'closed' ? 'CLOSED' : 'OPEN',
      isDraft: known.draft ?? false,
      branch: known.branch ?? '',
      ...(headSha !== null && { headSha }),
      mergeSha: merge?.sha ?? null,
      author: known.author ?? '',
      // Reviews and checks are told by deliveries alone.
      mergeStateStatus: 'UNKNOWN',
      createdAt: time,
      updatedAt: time,
      closedAt: ended === null ? null : Date.parse(ended),
      mergedAt: merge === null ? null : Date.parse(merge.at),
    });
  }

  function fillTracker(): void {
    const { cloud } = tracker;
    tracker.addToken(tokens.tracker);
    const team = cloud.addTeam({ id: `team-${PREFIX}`, key: PREFIX, name: 'Tideline', states: [] });
    for (const [name, type] of Object.entries(ticketStates))
      cloud.addState({ id: stateId(name as TicketStateName), teamId: team.id, name, type });
    for (const person of people) cloud.addUser({ id: `user-${person}`, name: person });
    for (const { ticket, title, person, pr } of plannedTickets) {
      const known = board.tickets.get(ticket);
      cloud.addIssue({
        id: `issue-${ticket}`,
        teamId: team.id,
        title: voice.title(title),
        number: Number(ticket.split('-')[1]),
        stateId: known?.state?.id ?? stateId('Todo'),
        assigneeId: `user-${person}`,
        priority: 1 + (pr % 4),
        // Nothing that a poll would call new.
        updatedAt: '2026-01-01T00:00:00.000Z',
      });
    }
    for (const { ticket, blockedBy } of plannedTickets)
      for (const blocker of blockedBy) cloud.relate(blocker, ticket);
  }

  return {
    relay,
    codehost,
    tracker,
    models,
    backends,
    /** A delivery tells the daemon; what it tells is so at the code host too. */
    hear: (type: string, payload: JsonObject): void => {
      if (type !== 'pull_request') return;
      const told = payload['pull_request'] as {
        number: number;
        merged: boolean;
        state: string;
        head: { sha: string };
      };
      const { full_name: repo } = payload['repository'] as { full_name: string };
      const { cloud } = codehost;
      const isKnown = cloud.repoOf(repo).pullRequests.some(({ number }) => number === told.number);
      if (!isKnown) cloud.addPullRequest(repo, { number: told.number, mergeStateStatus: 'UNKNOWN' });
      const state = told.merged ? 'MERGED' : told.state === 'closed' ? 'CLOSED' : 'OPEN';
      cloud.changePullRequest(repo, told.number, { state, headSha: told.head.sha });
    },
    environment: (): Record<string, string> => ({
      ...ghEnvironment(codehost, tokens.codehost),
      HOME: home,
      SVC_TRACKER_API_URL: tracker.url,
      TAPE_MODEL_KEY: tokens.models,
    }),
    async close(): Promise<void> {
      await relay.stop();
      await codehost.close();
      await tracker.close();
      await models.close();
      await backends.close();
    },
  };
}
