// `push`: a branch or tag that moved, appeared or went.
import type { PushDetail } from '../log/codehost-details.ts';
import type { CodehostFact } from './codehost-fact.ts';
import { knownDetail } from './only-known.ts';
import { type Fields, flagAt, integerAt, listAt, objectAt, textAt } from './payload-fields.ts';

const noCommit = /^0+$/;
const LAST_SECOND_OF_2199 = 7_258_118_399;

export function pushFact(payload: Fields): CodehostFact {
  const ref = textAt(payload, 'ref');
  const after = textAt(payload, 'after');
  const detail: PushDetail = {
    before: textAt(payload, 'before'),
    after,
    commits: listAt(payload, 'commits').length,
    forced: flagAt(payload, 'forced'),
    created: flagAt(payload, 'created'),
    deleted: flagAt(payload, 'deleted'),
    tag: nameBehind(ref, 'refs/tags/'),
    base: textAt(payload, 'base_ref'),
    url: textAt(payload, 'compare'),
    message: textAt(objectAt(payload, 'head_commit'), 'message'),
    pusher: textAt(objectAt(payload, 'pusher'), 'name'),
  };
  return {
    topic: 'codehost.push',
    scope: {
      ref,
      branch: nameBehind(ref, 'refs/heads/'),
      sha: after === undefined || noCommit.test(after) ? undefined : after,
    },
    occurredAt: timeOfPush(objectAt(payload, 'repository')),
    detail: knownDetail(detail),
  };
}

function nameBehind(ref: string | undefined, prefix: string): string | undefined {
  return ref?.startsWith(prefix) ? ref.slice(prefix.length) || undefined : undefined;
}

/** Here, and only here, the code host gives seconds since 1970. A commit's own time may be years earlier. */
function timeOfPush(repository: Fields): string | undefined {
  const seconds = integerAt(repository, 'pushed_at');
  if (seconds === undefined || seconds <= 0 || seconds > LAST_SECOND_OF_2199) return undefined;
  return new Date(seconds * 1000).toISOString();
}
