// The one thing that the day leaves to the person at the screen: what becomes of TID-106, whose three deployments
// failed. Whatever the person says of it, the story goes on from there.
//   acknowledge, hand over, resolve   a colleague mends it and asks for another attempt, which succeeds
//   retry                             the attempt succeeds
//   accept                            it is done by the person's word
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLine } from '@svc/core';
import { deploymentPayload, deploymentStatusPayload } from '../../testkit/src/tape/codehost-payloads.ts';
import type { Fact } from '../../testkit/src/tape/fact.ts';
import { plannedTicket } from '../../testkit/src/tape/product.ts';
import { issuePayload } from '../../testkit/src/tape/tracker-payloads.ts';
import { plainVoice } from '../../testkit/src/tape/voice.ts';
import { type Clouds, post } from './clouds.ts';
import type { DaemonAddress } from './daemon-address.ts';
import { WAITS_FOR_YOU } from './scenes.ts';

/** Newer than every deployment of the day. */
const LAST_DEPLOYMENT = 60_000;
const COLLEAGUE = 'jonas';

type Word = 'taken' | 'retried' | 'accepted';

export type YourWord = {
  saw: (line: EventLine) => void;
  isSaid: () => boolean;
  /** Resolves when what follows from it has happened; at once when nothing was said. */
  settled: () => Promise<void>;
};

export function awaitYourWord(given: {
  daemon: DaemonAddress;
  clouds: Pick<Clouds, 'sendCodehost' | 'sendTracker'>;
  facts: readonly Fact[];
  msPerMinute: number;
  say: (text: string) => void;
  signal: AbortSignal;
}): YourWord {
  const { daemon, clouds, msPerMinute, say, signal } = given;
  const planned = plannedTicket(WAITS_FOR_YOU);
  let word: Word | undefined;
  let following: Promise<void> = Promise.resolve();

  const minutes = (count: number): Promise<void> => sleep(count * msPerMinute, undefined, { signal });

  async function goOn(said: Word): Promise<void> {
    if (said === 'accepted') {
      say(`You accepted ${WAITS_FOR_YOU}: it is done by your word, and its receipt says so.`);
      return ticketDone();
    }
    say(
      said === 'taken'
        ? `You have seen ${WAITS_FOR_YOU}. ${COLLEAGUE} gives the service more memory and asks for another attempt.`
        : `You asked for another attempt of ${WAITS_FOR_YOU}. ${COLLEAGUE} has given the service more memory.`,
    );
    await minutes(8);
    // The person may have said more by now.
    if (said === 'taken' && word === 'taken') await askForRetry();
    await minutes(4);
    await deploySucceeds();
    await ticketDone();
    say(`${WAITS_FOR_YOU} is in production: done.`);
  }

  function askForRetry(): Promise<void> {
    const body = JSON.stringify({ word: 'retry', by: COLLEAGUE, note: '1 GB instead of 512 MB' });
    const url = `${daemon.url}/api/workers/${WAITS_FOR_YOU}/deploy`;
    return post(url, { ...daemon.headers, 'content-type': 'application/json' }, body);
  }

  async function deploySucceeds(): Promise<void> {
    const began = new Date();
    const deploy = {
      id: LAST_DEPLOYMENT,
      sha: mergeOf(given.facts, planned.pr),
      environment: 'production',
      createdAt: () => began,
    };
    const status = (state: string, description: string): Promise<void> =>
      clouds.sendCodehost(
        'deployment_status',
        deploymentStatusPayload(planned.repo, deploy, { state, description }, new Date(), plainVoice),
      );
    await clouds.sendCodehost('deployment', deploymentPayload(planned.repo, deploy));
    await status('in_progress', 'The pipeline has begun');
    await minutes(12);
    await status('success', 'All health checks answer');
  }

  function ticketDone(): Promise<void> {
    return clouds.sendTracker('Issue', issuePayload(planned, 'Done', 'In Review', new Date(), plainVoice));
  }

  return {
    saw(line) {
      const said = wordIn(line);
      if (said === undefined) return;
      const isFirst = word === undefined;
      word = said;
      if (isFirst)
        following = goOn(said).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      // Whoever waits for it hears of a failure; until then it is nobody's.
      following.catch(() => undefined);
    },
    isSaid: () => word !== undefined,
    settled: () => following,
  };
}

/** Words of a person come through the daemon's own routes, with the source `cli`. */
export function wordIn({ event, source, scope, detail }: EventLine): Word | undefined {
  if (source !== 'cli' || scope.ticket !== WAITS_FOR_YOU) return undefined;
  if (event === 'orchestrator.deploy.retried') return 'retried';
  if (event === 'orchestrator.deploy.accepted') return 'accepted';
  const isTaken = /^comms\.attention_(?:acknowledged|handed_over|resolved)$/.test(event);
  return isTaken && Reflect.get(detail, 'reason') === 'deploy-budget-exhausted' ? 'taken' : undefined;
}

/** The commit that the pull request became. */
export function mergeOf(facts: readonly Fact[], number: number): string {
  for (const fact of facts) {
    if (fact.way !== 'codehost' || fact.type !== 'pull_request') continue;
    const told = fact.payload(new Date())['pull_request'] as {
      number: number;
      merged: boolean;
      merge_commit_sha: string;
    };
    if (told.number === number && told.merged) return told.merge_commit_sha;
  }
  throw new Error(`The day merges no pull request ${number}`);
}
