// The other side of the bench: a server that speaks the public protocol, given by its address, or the fake of the
// test kit, which behaves like it on the wire and is nobody's product.
import { startPublicRelay } from '../../packages/testkit/src/relay/public-relay.ts';

export type Peer = { name: string; isReal: boolean; url: string; stop: () => Promise<void> };

/** Takes `--peer <url>` out of the words: the other options are numbers and flags. */
export function takePeer(words: string[]): string | undefined {
  const at = words.indexOf('--peer');
  if (at < 0) return undefined;
  const [, value] = words.splice(at, 2);
  if (value === undefined || value.startsWith('--'))
    throw new Error('--peer needs the address of a running server, or the word fake');
  return value;
}

export async function openPeer(given: string): Promise<Peer> {
  if (given === 'fake') {
    const relay = await startPublicRelay();
    const name = "the test kit's fake of the public relay (not the real one)";
    return { name, isReal: false, url: relay.url, stop: relay.stop };
  }
  const { origin: url, hostname } = new URL(given);
  // Full speed is nothing to do to somebody else's server, and a network between would be measured with it.
  if (!/^(?:localhost|127\.0\.0\.1)$/.test(hostname))
    throw new Error('--peer must be a server on this machine: http://127.0.0.1:<port>');
  return { name: url, isReal: true, url, stop: async () => undefined };
}

/** As the public client does it: asks for a new channel and takes where it is sent. */
export async function newPeerChannel({ url }: Peer): Promise<string> {
  const answer = await fetch(`${url}/new`, { method: 'HEAD', redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`${url}/new answered ${answer.status} without a channel`);
  return new URL(location, url).pathname;
}

/** What the public server did on another machine of two cores; printed for comparison, never judged against. */
export const recordedElsewhere = [
  'recorded elsewhere of the public server with its own client (two shared cores, not this run):',
  '  end to end 3,100/s at 1 KB and 820/s at 20 KB; at 200/s p50 3.0 ms, p99 11.4 ms; p50 5.4 ms at 20/s',
  '  602 of 2,000 lost with a 5 s cut in the middle, all of them answered 200',
  '  POST 0.8 to 44 ms after 2,000 reconnects; 500 MB for one slow reader',
];
