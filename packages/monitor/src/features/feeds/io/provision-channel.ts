// Makes a channel at the public relay, or at one with the same protocol: it answers `HEAD /new` with a redirect to the
// channel's URL. Anyone with that URL can write and read.
import { randomBytes } from 'node:crypto';
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { basename } from 'node:path';
import { NewRelayChannel } from '@svc/contract/relay/new-relay-channel';
import { retryAfterMs } from '@svc/lib/backoff';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { causeOf, readAnswer } from '@svc/lib/fetch';
import { z } from 'zod';
import type { ConfigFiles } from '../../../kernel/config/load.ts';
import { relayReadKeyFile } from '../../../kernel/config/locate.ts';
import type { Environment, ResolvedValue } from '../../../kernel/config/resolved-value.ts';
import type { ConfigStore } from '../../../kernel/config/store.ts';
import { readSecretFile, removeSecretFile, writeSecretFile } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import { isPrivateWay, relayOfChannel, relayUrl } from '../feed-channel.ts';

// Posts to a channel, as a sender does; through the proxy, if there is one.

type PostRequest = {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  signal: AbortSignal;
};

/** The status of the answer; rejects if there is none. */
export type Post = (request: PostRequest) => Promise<number>;

export function createPost({ proxy }: { proxy: Environment }): Post {
  const plain = new PlainAgent({ proxyEnv: proxy });
  const secure = new SecureAgent({ proxyEnv: proxy });
  return ({ url, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const options = { method: 'POST', headers, signal };
      const outgoing = url.startsWith('https:')
        ? secureRequest(url, { ...options, agent: secure })
        : plainRequest(url, { ...options, agent: plain });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        // Only the status matters.
        response.on('error', () => undefined);
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      outgoing.end(body);
    });
}

// The read keys of the relay channels. Only the environment variables that the configuration names are read. A channel
// of the public relay has no key.

export type ReadKey = {
  variable: string;
  value: string | undefined;
  /** The file in the configuration folder that the variable is filled from. */
  fileName: string;
};

type Feed = 'codehost' | 'tracker';

/** By feed; the global file names one variable for each, for all projects. */
export function readKeyVariables(configs: readonly Config[]): Record<Feed, string[]> {
  const named = (pick: (config: Config) => string): string[] => [...new Set(configs.map(pick))];
  return {
    codehost: named(({ svc }) => svc.monitor.github.relayReadKeyEnv),
    tracker: named(({ svc }) => svc.monitor.linear.relayReadKeyEnv),
  };
}

/** Undefined if there is no configuration at all. An empty variable counts as unset. */
export function readKeyOf(
  configs: readonly Config[],
  environment: Environment,
  feed: Feed,
): ReadKey | undefined {
  const [variable] = readKeyVariables(configs)[feed];
  if (variable === undefined) return undefined;
  const value = environment[variable]?.trim();
  return {
    variable,
    value: value === '' ? undefined : value,
    fileName: basename(relayReadKeyFile('', feed)),
  };
}

// Who else reads a channel, from the status of a svc-relay. The whole team may use a channel, and a user who replaces
// it should know that.

const STATUS_MS = 5000;
const ChannelStatus = z.object({
  subscribers: z.object({ named: z.array(z.object({ subscriber: z.string() })) }),
});

/** How many other machines; undefined if the relay does not report it. Changes nothing. */
export async function otherReaders(
  channel: string,
  given: { readKey: string; hostId: string; get: typeof fetch },
): Promise<number | undefined> {
  const response = await given
    .get(`${channel}/status`, {
      headers: { accept: 'application/json', authorization: `Bearer ${given.readKey}` },
      redirect: 'error',
      signal: AbortSignal.timeout(STATUS_MS),
    })
    // A relay that does not answer must not keep a user from leaving it.
    .catch(() => undefined);
  if (response === undefined || !response.ok) return undefined;
  const status = ChannelStatus.safeParse(await response.json().catch(() => undefined));
  if (!status.success) return undefined;
  return status.data.subscribers.named.filter(({ subscriber }) => subscriber !== given.hostId).length;
}

// Makes a channel at a svc-relay: `POST /new` answers with its URL and its read key. The answer is validated, and never
// printed: the key is a secret.

const OWN_CHANNEL_MS = 15_000;
const MAX_ANSWER_BYTES = 16 * 1024;
/** Contains the key of a relay that does not make channels for everyone. */
export const CREATE_KEY_VARIABLE = 'SVC_RELAY_CREATE_KEY';

/** The relay from the command line, normalised. */
export function ownRelayUrl(text: string): string {
  const url = relayUrl(text);
  if (url !== undefined && isPrivateWay(url)) return url;
  throw new Failure(
    'usage',
    `--relay: expected an https URL, or an http URL on this machine, found ${JSON.stringify(text)}.`,
    'The read key comes back over this connection, so it must be encrypted.',
  );
}

export async function provisionOwnChannel(
  relay: string,
  given: { post: typeof fetch; createKey: string | undefined; team?: string },
): Promise<ProvisionedChannel> {
  const { createKey } = given;
  const response = await ask(relay, given);
  if (response.status !== 201) throw refusal(relay, response, createKey !== undefined);
  const made = NewRelayChannel.safeParse(await jsonIn(response));
  if (!made.success) throw notARelay(relay, 'it does not answer POST /new as svc-relay does');
  const { writeUrl, readUrl, readKey } = made.data;
  const own = relayOfChannel(writeUrl);
  if (own !== relay || relayOfChannel(readUrl) !== relay)
    throw new Failure(
      'relay-unavailable',
      `The relay ${relay} returned a channel at another address: ${own ?? writeUrl}.`,
      `Use that address: svc setup-webhooks --relay ${own ?? writeUrl}; if it is wrong, start the relay with --public-url ${relay}`,
    );
  return { url: writeUrl, readKey };
}

/** `team`: the public key of the administrator of a team. */
async function ask(
  relay: string,
  { post, createKey, team }: { post: typeof fetch; createKey: string | undefined; team?: string },
): Promise<Response> {
  try {
    return await post(`${relay}/new`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(createKey !== undefined && { authorization: `Bearer ${createKey}` }),
      },
      body: JSON.stringify({ team }),
      signal: AbortSignal.timeout(OWN_CHANNEL_MS),
    });
  } catch (error) {
    throw new Failure(
      'relay-unavailable',
      `The relay ${relay} cannot be reached: ${reasonOf(error)}.`,
      `Check the address, and that the relay is running: curl ${relay}/healthz`,
    );
  }
}

function refusal(relay: string, { status, headers }: Response, hadKey: boolean): Failure {
  const no = (what: string, remedy: string): Failure =>
    new Failure('relay-unavailable', `The relay ${relay} ${what} (${status}).`, remedy);
  switch (status) {
    case 401:
      return no(
        hadKey
          ? `does not accept the create key in ${CREATE_KEY_VARIABLE}`
          : 'requires its create key to make a channel',
        `Get the create key from the relay's operator, set ${CREATE_KEY_VARIABLE}, and run this again.`,
      );
    case 403:
      return no('refuses to make a channel', "Ask the relay's operator whether this machine may use it.");
    case 429: {
      const wait = retryAfterMs(headers.get('retry-after'), Date.now());
      return no(
        'has reached its limit of new channels for this address',
        wait === undefined ? 'Try again later.' : `Try again in ${Math.ceil(wait / 1000)} s.`,
      );
    }
    case 500:
    case 502:
    case 503:
    case 504:
      return no('cannot make a channel now', `Try again; to see what is wrong there: curl ${relay}/readyz`);
    default:
      return notARelay(relay, `it answered POST /new with ${status}`);
  }
}

function notARelay(relay: string, why: string): Failure {
  return new Failure(
    'relay-unavailable',
    `${relay} is not a svc-relay server: ${why}.`,
    'Use the address of a svc-relay. For a public relay, omit --relay and set SVC_RELAY_URL.',
  );
}

async function jsonIn(response: Response): Promise<unknown> {
  const bytes = await readAnswer(response, MAX_ANSWER_BYTES);
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  return systemErrorCode(cause) ?? messageOf(cause);
}

const PUBLIC_CHANNEL_MS = 15_000;

export async function provisionChannel(relay: string, get: typeof fetch): Promise<ProvisionedChannel> {
  const address = new URL('/new', relay);
  let response: Response;
  try {
    response = await get(address.href, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(PUBLIC_CHANNEL_MS),
    });
  } catch (error) {
    const why = messageOf(error);
    throw new Failure(
      'relay-unavailable',
      `The relay ${relay} cannot be reached: ${why}.`,
      'Try again, or set SVC_RELAY_URL to another relay.',
    );
  }
  const location = response.headers.get('location');
  const channel = location === null ? null : URL.parse(location, address.href);
  if (response.status >= 300 && response.status < 400 && channel !== null && channel.pathname.length > 1)
    return { url: channel.href, readKey: null };
  throw new Failure(
    'relay-unavailable',
    `The relay ${relay} did not return a channel (it answered ${response.status}).`,
    response.status === 401 || response.status === 403
      ? `If it is your own svc-relay, run: svc setup-webhooks --relay ${relay}`
      : 'Try again, or set SVC_RELAY_URL to another relay.',
  );
}

// Sets up the code host's feed on this machine. The order of the steps allows the next run to finish one that failed
// anywhere:
//   1. Write the relay channel to the global file: the known one if it may be kept, or a new one. With --force always a
//      new one; with --relay a new one if the known one is at another relay. Its read key, if the relay returned one,
//      is written to its file first: a channel whose key is lost cannot be read.
//   2. Write the secret to its file, mode 600: kept, or created. With --force always a new one.
//   3. Name the secret's variable in the project file, and remove the channel from it.
//   4. Add the project to the list of those that the daemon serves.

const SECRET_BYTES = 32;
const channelKey = 'svc.monitor.github.smeeChannel';
const variableKey = 'svc.monitor.github.webhookSecretEnv';
const projectsKey = 'svc.projects';

/** `readKey` is null if anyone with the URL can read. */
export type ProvisionedChannel = { url: string; readKey: string | null };

export type ChannelSetup = {
  channel: string;
  /** The previous channel, if it was replaced: hooks that point to it have to be removed. */
  replaced: string | undefined;
  secretFile: string;
  variable: string;
};

export async function setUpChannel(options: {
  values: readonly ResolvedValue[];
  /** The channel that may be kept. */
  known: string | undefined;
  files: ConfigFiles;
  store: Pick<ConfigStore, 'set' | 'setMany'>;
  secretFile: string;
  readKeyFile: string;
  force: boolean;
  /** The relay that the channel must be at; undefined if any will do. */
  relay: string | undefined;
  provision: () => Promise<ProvisionedChannel>;
  tell: (line: string) => void;
}): Promise<ChannelSetup> {
  const { values, known, store, secretFile, readKeyFile, force, relay, tell } = options;
  const valueOf = (key: string): unknown => values.find((value) => value.key === key)?.value;
  const isNew = force || known === undefined || isElsewhere(known, relay);
  const channel = isNew ? await makeChannel(options.provision, readKeyFile) : known;
  await store.set('global', channelKey.split('.'), channel);
  tell(channel === known ? `Relay channel kept: ${channel}` : `Relay channel created: ${channel}`);
  await tellReadKey(readKeyFile, relay, tell);

  const secret = force ? undefined : await readSecretFile(secretFile);
  await writeSecretFile(secretFile, secret ?? randomBytes(SECRET_BYTES).toString('hex'));
  tell(secret === undefined ? `Secret created: ${secretFile} (mode 600)` : `Secret kept: ${secretFile}`);

  const variable = textOf(valueOf(variableKey)) ?? '';
  const projectFile = await store.setMany('project', [
    { path: variableKey.split('.'), value: variable },
    { path: channelKey.split('.'), value: undefined },
  ]);
  tell(`Project file reads the secret from ${variable}: ${projectFile}`);
  await registerProject(options, valueOf(projectsKey));
  return { channel, replaced: known === channel ? undefined : known, secretFile, variable };
}

/** Whether a channel is at another relay than it must be. */
export function isElsewhere(channel: string | undefined, relay: string | undefined): boolean {
  return channel !== undefined && relay !== undefined && relayOfChannel(channel) !== relay;
}

/** Makes a channel and saves its read key. The previous channel's key must not be sent to another relay. */
export async function makeChannel(
  provision: () => Promise<ProvisionedChannel>,
  readKeyFile: string,
): Promise<string> {
  const { url, readKey } = await provision();
  if (readKey === null) await removeSecretFile(readKeyFile);
  else await writeSecretFile(readKeyFile, readKey);
  return url;
}

export async function tellReadKey(
  readKeyFile: string,
  relay: string | undefined,
  tell: (line: string) => void,
): Promise<void> {
  if ((await readSecretFile(readKeyFile)) !== undefined) tell(`Read key: ${readKeyFile} (mode 600)`);
  else if (relay !== undefined)
    tell(
      `warning: no read key in ${readKeyFile}. If the channel has one, put it there (mode 600); if it is lost, create a new channel with --force`,
    );
}

async function registerProject(
  {
    files,
    store,
    tell,
  }: { files: ConfigFiles; store: Pick<ConfigStore, 'set'>; tell: (line: string) => void },
  listed: unknown,
): Promise<void> {
  const folders = Array.isArray(listed) ? listed : [];
  const folder = files.project.folder ?? files.project.file.replace(/\/\.(?:svc|claude)\/config\.json$/, '');
  if (folders.includes(folder)) return;
  await store.set('global', projectsKey.split('.'), [...folders, folder]);
  tell(`The daemon of this machine serves the project ${folder}`);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
