// `svc feeds ping`: posts a signed test delivery to the feed's channel, as a sender would, and measures the time until
// it comes out of the tunnel. It ends there: it reaches no receiver and is not logged.
//
// Its body has one key and no spaces, so a relay that re-serialises bodies writes the same bytes.
import type { FeedChannel } from '../feed-channel.ts';
import { SELF_TEST_HEADER } from '../feed-grade.ts';
import { type Feed, type FeedName, isSignedBy, type Secrets, sign } from './feed.ts';
import type { SelfTest } from './inbox.ts';
import type { Post } from './provision-channel.ts';
import { wordsForError, wordsForStatus } from './session.ts';
import type { Tunnel } from './tunnel.ts';

export type PingResult =
  | { feed: FeedName; ok: true; milliseconds: number }
  | { feed: FeedName; ok: false; disabled: boolean; why: string; remedy: string | null };

/** A feed with the tunnel that its deliveries come through. */
type PingTarget = { feed: FeedName; channel: FeedChannel; tunnel: Pick<Tunnel, 'state'> };

export type FeedPing = {
  /** How the tunnel of these feeds recognises a ping. */
  selfTestOf: (feeds: readonly FeedName[]) => SelfTest;
  ping: (targets: readonly PingTarget[], timeoutMs: number) => Promise<PingResult[]>;
};

const repairHint = 'Fetch what is missing: svc feeds check --repair; then: svc monitor restart';

export function createFeedPing({
  definitions,
  secrets,
  post,
}: {
  definitions: Record<FeedName, Feed>;
  secrets: () => Secrets;
  post: Post;
}): FeedPing {
  /** What to do when a test arrives, by its id. */
  const underWay = new Map<string, () => void>();

  async function pingOne({ feed, channel, tunnel }: PingTarget, timeoutMs: number): Promise<PingResult> {
    const no = (why: string, remedy: string | null = null): PingResult => {
      return { feed, ok: false, disabled: !channel.use, why, remedy };
    };
    if (!channel.use) return no(channel.why, channel.remedy);
    const { now, grade } = tunnel.state();
    if (now.mode !== 'live')
      return no(`the feed is ${now.mode}${grade.why === null ? '' : `: ${grade.why}`}`, grade.remedy);
    const id = crypto.randomUUID();
    const enough = AbortSignal.timeout(timeoutMs);
    const started = performance.now();
    const arrival = new Promise<number | null>((resolve) => {
      underWay.set(id, () => resolve(performance.now() - started));
      enough.addEventListener('abort', () => resolve(null));
    });
    try {
      const request = selfTestRequest(feed, id, secrets()[feed].values[0] ?? '');
      const status = await post({ url: channel.url, ...request, signal: enough });
      if (status < 200 || status > 299) {
        const { why, remedy } = wordsForStatus(status);
        return no(why, remedy);
      }
      const milliseconds = await arrival;
      if (milliseconds !== null) return { feed, ok: true, milliseconds: Math.round(milliseconds * 10) / 10 };
      return no(`the relay accepted it but did not deliver it within ${timeoutMs / 1000} s`, repairHint);
    } catch (error) {
      if (enough.aborted) return no(`the relay did not answer within ${timeoutMs / 1000} s`);
      const { why, remedy } = wordsForError(error);
      return no(why, remedy);
    } finally {
      underWay.delete(id);
    }
  }

  return {
    selfTestOf: (feeds) => ({
      isGenuine: ({ headers, body }) =>
        feeds.some((feed) => {
          const signature = definitions[feed].signatureIn(headers);
          return signature !== undefined && isSignedBy(secrets()[feed].values, body, signature);
        }),
      onArrival: (id) => underWay.get(id)?.(),
    }),
    ping: (targets, timeoutMs) => Promise.all(targets.map((target) => pingOne(target, timeoutMs))),
  };
}

/** A signed test delivery, which every receiver recognises. */
export function selfTestRequest(feed: FeedName, id: string, secret: string) {
  const body = Buffer.from(JSON.stringify({ selfTest: id }));
  const signature = sign(secret, body);
  const own: Record<string, string> =
    feed === 'codehost'
      ? {
          'X-Codehost-Event': 'ping',
          'X-Codehost-Delivery': id,
          'X-Hub-Signature-256': `sha256=${signature}`,
        }
      : { 'Tracker-Event': 'ping', 'Tracker-Delivery': id, 'Tracker-Signature': signature };
  const headers = {
    ...own,
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    [SELF_TEST_HEADER]: id,
  };
  return { headers, body };
}
