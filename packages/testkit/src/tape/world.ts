// The services around the daemon, on this machine: the code host behind the real client program, the tracker, the
// relay, and a model vendor. Their data matches the log, so a reconciliation finds nothing new.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PullRequest } from 'svc-monitor/src/features/pull-requests/pull-request.ts';
import type { Board } from 'svc-monitor/src/kernel/board/board.ts';
import { startDemoBackends } from '../../../demo/src/backends.ts';
import type { Day } from '../../../demo/src/day.ts';
import { projectSettings, repos } from '../../../demo/src/project.ts';
import { ghEnvironment, startFakeCodehost } from '../codehost/fake-codehost.ts';
import { startFakeModels } from '../models/fake-models.ts';
import type { JsonObject } from '../payloads/examples.ts';
import { startPublicRelay } from '../relay/public-relay.ts';
import { startFakeTracker } from '../tracker/fake-tracker.ts';

/** They protect nothing. */
export const tokens = { codehost: 'tape-token', tracker: 'lin_api_tape', models: 'tape-model-key' };

const SUMMARY =
  'Five of twelve tickets are done, and two have not started. TID-106 waits for a person: three deployments ran out of memory. The deploy of TID-105 failed on a migration.';

export type TapeWorld = Awaited<ReturnType<typeof openTapeWorld>>;

export async function openTapeWorld({ home, board, day }: { home: string; board: Board; day: Day }) {
  const folder = join(home, 'clouds');
  mkdirSync(folder);
  const relay = await startPublicRelay({ pingMs: 5_000 });
  const codehost = await startFakeCodehost({ folder });
  const tracker = await startFakeTracker();
  const models = await startFakeModels({ key: tokens.models });
  const backends = await startDemoBackends(day);
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
      // Reviews and checks come only by deliveries.
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
    const { teamKey, teamId, stateIds } = projectSettings.tracker;
    cloud.addTeam({ id: teamId, key: teamKey, name: 'Tideline', states: [] });
    const issues = issuesOf(day);
    for (const { state } of issues) cloud.addState({ ...state, teamId });
    const created = new Map(issues.toReversed().map((issue) => [issue.identifier, issue]));
    for (const { assignee } of created.values()) cloud.addUser(assignee);
    for (const { identifier, id, title, number, priority, assignee } of created.values())
      cloud.addIssue({
        id,
        teamId,
        title,
        number,
        priority,
        assigneeId: assignee.id,
        stateId: board.tickets.get(identifier)?.state?.id ?? stateIds.Todo,
        // Nothing that a poll would report as new.
        updatedAt: '2026-01-01T00:00:00.000Z',
      });
    for (const [ticket, blockers] of blockersOf(day))
      for (const blocker of blockers) cloud.relate(blocker, ticket);
  }

  return {
    relay,
    codehost,
    tracker,
    models,
    backends,
    /** Applies a delivery's content to the code host's data too. */
    applyDelivery: (type: string, payload: JsonObject): void => {
      if (type !== 'pull_request') return;
      const change = payload['pull_request'] as {
        number: number;
        merged: boolean;
        state: string;
        head: { sha: string };
      };
      const { full_name: repo } = payload['repository'] as { full_name: string };
      const { cloud } = codehost;
      const isKnown = cloud.repoOf(repo).pullRequests.some(({ number }) => number === change.number);
      if (!isKnown) cloud.addPullRequest(repo, { number: change.number, mergeStateStatus: 'UNKNOWN' });
      const state = change.merged ? 'MERGED' : change.state === 'closed' ? 'CLOSED' : 'OPEN';
      cloud.changePullRequest(repo, change.number, { state, headSha: change.head.sha });
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

type Issue = {
  id: string;
  identifier: string;
  number: number;
  title: string;
  priority: number;
  state: { id: string; name: string; type: string };
  assignee: { id: string; name: string };
};

/** Each change of a ticket, in chronological order. */
function issuesOf({ records }: Day): Issue[] {
  return records.flatMap((record) =>
    record.kind === 'tracker' && record.type === 'Issue' ? [record.payload['data'] as Issue] : [],
  );
}

/** By ticket, what it waits for. */
function blockersOf({ records }: Day): [ticket: string, blockers: string[]][] {
  return records.flatMap((record) =>
    record.kind === 'report' && record.event === 'orchestrator.run.started'
      ? Object.entries(record.detail['blockedBy'] as Record<string, string[]>)
      : [],
  );
}
