// Steady traffic: what a busy hour sounds like. Checks that begin and end, pushes, comments, agents that print and
// spend, in a steady rhythm until it is stopped.
import { createRandom } from '../random.ts';
import { agentSays, agentUses } from './agent-output.ts';
import * as codehost from './codehost-payloads.ts';
import { type PlannedTicket, people, plannedTickets, runs } from './product.ts';
import { branchNamed } from './pull-request-teller.ts';
import { sendCodehost, sendTracker } from './send.ts';
import type { TapeDaemon } from './tape-daemon.ts';
import { hexOf } from './told.ts';
import { commentPayload, issuePayload } from './tracker-payloads.ts';
import { plainVoice } from './voice.ts';
import { appendOutput, changeSignal } from './worker-files.ts';

export type LiveEvents = {
  /** Facts that the daemon has taken. */
  sent: () => number;
  /** The first thing that went wrong, if anything did. */
  problem: () => unknown;
  stop: () => Promise<void>;
};

/** `const live = liveEvents(daemon, { perMinute: 60 }); … await live.stop();` */
export function liveEvents(
  daemon: Pick<TapeDaemon, 'url' | 'runsDir' | 'hear'>,
  { perMinute, seed = 7 }: { perMinute: number; seed?: number },
): LiveEvents {
  const random = createRandom(seed);
  const workers = plannedTickets.filter(({ ticket }) => ['TID-121', 'TID-123', 'TID-124'].includes(ticket));
  const reviewed = plannedTickets.filter(({ ticket }) => ['TID-126', 'TID-127', 'TID-128'].includes(ticket));
  const heads = new Map(reviewed.map(({ ticket }) => [ticket, hexOf(random, 40)]));
  const cost = { usd: 4, inputTokens: 900_000, outputTokens: 70_000 };
  let sent = 0;
  let problem: unknown;
  let stopped = false;

  function changeOf(planned: PlannedTicket): codehost.Change {
    const { ticket, title, repo, pr, person } = planned;
    return {
      repo,
      number: pr,
      title: `${ticket}: ${title}`,
      branch: branchNamed(ticket, title),
      author: person,
      labels: ['agent'],
      openedAt: () => new Date(Date.now() - 3_600_000),
      headSha: heads.get(ticket) ?? '',
      draft: false,
      mergeableState: 'blocked',
      merge: null,
      closedAt: null,
    };
  }

  async function one(): Promise<void> {
    const now = new Date();
    const planned = random.pick(reviewed);
    const change = changeOf(planned);
    const suite = { id: planned.pr * 10, app: random.pick(['build', 'browser-tests', 'lint']) };
    switch (random.below(7)) {
      case 0: {
        const headSha = hexOf(random, 40);
        heads.set(planned.ticket, headSha);
        const pushed = { ...change, headSha };
        await sendCodehost(
          daemon,
          'pull_request',
          codehost.pullRequestPayload(pushed, 'synchronize', now, change.author),
        );
        return;
      }
      case 1:
        await sendCodehost(
          daemon,
          'check_suite',
          codehost.checkSuitePayload(change, { ...suite, conclusion: null }, now),
        );
        return;
      case 2: {
        const conclusion = random.chance(0.7) ? 'success' : 'failure';
        await sendCodehost(
          daemon,
          'check_suite',
          codehost.checkSuitePayload(change, { ...suite, conclusion }, now),
        );
        return;
      }
      case 3: {
        const comment = { by: random.pick(people), body: 'Looks good from the jetty.' };
        await sendTracker(daemon, 'Comment', commentPayload(planned, comment, now, plainVoice));
        return;
      }
      case 4:
        await sendTracker(
          daemon,
          'Issue',
          issuePayload(planned, 'In Review', 'In Progress', now, plainVoice),
        );
        return;
      case 5: {
        const by = random.pick(people);
        const comment = { id: random.below(2 ** 30), by, body: 'One more thing.' };
        await sendCodehost(daemon, 'issue_comment', codehost.conversationPayload(change, comment, now));
        return;
      }
      default: {
        const worker = random.pick(workers);
        const place = { orchestrator: runs.winter.id, ticket: worker.ticket };
        cost.usd = Math.round((cost.usd + 0.0123) * 10_000) / 10_000;
        cost.inputTokens += 4_100;
        cost.outputTokens += 350;
        const tick = now.getTime() / 1_000;
        const line = random.chance(0.5)
          ? agentSays(worker.ticket, tick, 'implementing', cost)
          : agentUses(worker.ticket, tick, 'implementing', cost);
        appendOutput(daemon, place, [line]);
        changeSignal(daemon, place, { updatedAt: now.toISOString(), cost: { ...cost } });
      }
    }
  }

  const underWay = new Set<Promise<void>>();
  const began = performance.now();
  let begun = 0;
  // By the clock and not by the timer, which is late when the machine is busy.
  const timer = setInterval(
    () => {
      for (const due = ((performance.now() - began) * perMinute) / 60_000; begun < due; begun += 1) {
        const doing = one().then(
          () => void (sent += 1),
          (error: unknown) => void (stopped || (problem ??= error)),
        );
        underWay.add(doing);
        void doing.finally(() => underWay.delete(doing));
      }
    },
    Math.min(1_000, 60_000 / perMinute),
  );

  return {
    sent: () => sent,
    problem: () => problem,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
