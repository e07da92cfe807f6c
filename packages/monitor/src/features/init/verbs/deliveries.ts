// How deliveries may travel from the code host and the tracker to this machine. Through the public relay, others can read
// their payloads, so a repository that is not known to be public is polled unless the user chooses a relay.
import { repoKey } from '@svc/contract/repo-name';
import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import { relayOfChannel } from '../../feeds/feed-channel.ts';
import { ownRelayUrl } from '../../feeds/io/provision-channel.ts';
import type { Prompter } from './prompter.ts';

const ways = ['public-relay', 'own-relay', 'polling'] as const;
type Way = (typeof ways)[number];

/** `relay`: its address; null when nothing passes through one. */
export type Deliveries = { way: Way; relay: string | null };

export type Visibility = 'public' | 'private' | 'unknown';

export type AskingDeliveries = {
  repository: string;
  config: Config;
  /** From the flags. */
  given: { way: Way; relay?: string | undefined } | undefined;
  publicRelay: string;
  /** The channel of this machine has a read key, so it is at an own relay. */
  hasReadKey: boolean;
  /** svc has created a webhook in it: its deliveries already travel through the channel. */
  isHooked: (repository: string) => boolean;
  visibility: () => Promise<Visibility>;
  prompter: Prompter | undefined;
};

export async function askDeliveries(asking: AskingDeliveries): Promise<Deliveries> {
  const { given, prompter, repository, publicRelay } = asking;
  const own = ownRelayOf(asking);
  if (given !== undefined) return settled(asking, given.way, given.relay ?? own);
  const visibility = await asking.visibility();
  const suggested = suggestedWay(asking, visibility);
  if (prompter === undefined) return settled(asking, suggested, own);
  const way = await prompter.choose({
    message: `How may events of ${repository} (${visibilityWords[visibility]}) reach this machine?`,
    options: [
      {
        value: 'public-relay',
        label: `Public relay ${publicRelay}: at once, but anyone with the channel’s address can read the payloads`,
      },
      { value: 'own-relay', label: 'Your own relay (svc-relay): at once, readable only with its read key' },
      { value: 'polling', label: 'Polling only: within ten minutes, and nothing passes through a relay' },
    ].filter(({ value }) => value !== 'public-relay' || own === undefined),
    suggested,
  });
  const chosen = ways.find((one) => one === way) ?? suggested;
  if (chosen !== 'own-relay') return settled(asking, chosen, own);
  const relay = await prompter.text({
    message: 'Address of your relay',
    suggested: own,
    check: (text) => relayProblem(text),
  });
  return settled(asking, chosen, ownRelayUrl(relay));
}

const visibilityWords: Record<Visibility, string> = {
  public: 'public',
  private: 'private',
  unknown: 'not known to be public',
};

/** What was chosen before, otherwise by the repository's visibility. */
function suggestedWay(asking: AskingDeliveries, visibility: Visibility): Way {
  const { github } = asking.config.svc.monitor;
  if (github.pollRepos.some((repo) => repoKey(repo) === repoKey(asking.repository))) return 'polling';
  if (ownRelayOf(asking) !== undefined) return 'own-relay';
  if (github.smeeChannel !== undefined && asking.isHooked(asking.repository)) return 'public-relay';
  return visibility === 'public' ? 'public-relay' : 'polling';
}

function ownRelayOf({ config, hasReadKey }: AskingDeliveries): string | undefined {
  const { smeeChannel } = config.svc.monitor.github;
  return hasReadKey && smeeChannel !== undefined ? relayOfChannel(smeeChannel) : undefined;
}

function settled(asking: AskingDeliveries, way: Way, own: string | undefined): Deliveries {
  if (way === 'polling') return { way, relay: null };
  if (way === 'own-relay') {
    if (own !== undefined) return { way, relay: own };
    throw new Failure('usage', 'The address of your relay is missing.', 'Pass it: svc init --relay <url>');
  }
  const current = ownRelayOf(asking);
  if (current === undefined) return { way, relay: asking.publicRelay };
  throw new Failure(
    'usage',
    `This machine already uses its own relay, ${current}.`,
    'Keep it: svc init, without --public-relay',
  );
}

function relayProblem(text: string): string | undefined {
  try {
    ownRelayUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return 'Expected an https URL, or an http URL on this machine.';
    throw error;
  }
}

/** What was chosen, and how to change it. */
export function deliveryWords({ way, relay }: Deliveries): { what: string; change: string } {
  switch (way) {
    case 'public-relay':
      return {
        what: `through the public relay ${relay}: anyone with the channel’s address can read the payloads`,
        change: 'svc init --relay <url> (your own relay) or svc init --no-webhooks (polling only)',
      };
    case 'own-relay':
      return {
        what: `through your relay ${relay}, readable only with its read key`,
        change: 'svc init --no-webhooks (polling only)',
      };
    case 'polling':
      return {
        what: 'polling only: changes appear within ten minutes, and nothing passes through a relay',
        change: 'svc init --relay <url> (your own relay) or svc init --public-relay',
      };
  }
}
