// Settings by flag, else by environment (`SVC_RELAY_<FLAG>`), else by default. One table for the parser, the help and the
// tests. Secrets have no flag: the process list shows every flag to every user.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { messageOf } from '@svc/lib/errors';
import { type Networks, noNetworks, readNetworks } from '../limits/limits.ts';
import { Failure } from './failure.ts';

type Reader<T> = (text: string) => T | undefined;
export type Setting<T> = {
  flag: string;
  /** The placeholder after the flag in the help; undefined for a switch. */
  value?: string;
  help: string;
  read: Reader<T>;
  fallback: T;
};

export type Environment = Readonly<Record<string, string | undefined>>;

const number =
  (least: number, most: number): Reader<number> =>
  (text) => {
    const value = Number(text);
    return text.trim() !== '' && Number.isFinite(value) && value >= least && value <= most
      ? value
      : undefined;
  };
const whole =
  (least: number, most: number): Reader<number> =>
  (text) => {
    const value = number(least, most)(text);
    return Number.isInteger(value) ? value : undefined;
  };
const line: Reader<string> = (text) => (text === '' ? undefined : text);
const yes: Reader<boolean> = (text) =>
  ['1', 'true', 'yes'].includes(text) ? true : ['0', 'false', 'no', ''].includes(text) ? false : undefined;
const networks: Reader<Networks> = (text) => {
  const read = readNetworks(text);
  return read.ok ? read.networks : undefined;
};
/** An http or https address without a trailing slash, credentials, query or fragment. */
export const origin: Reader<string> = (text) => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    return undefined;
  return url.username === '' ? url.href.replace(/\/+$/, '') : undefined;
};
const list: Reader<string[]> = (text) => {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every((part) => part !== '') ? parts : undefined;
};
/** `nats://host:port`, several separated by commas. Credentials in an address would be visible to every user. */
const natsServers: Reader<string[]> = (text) => {
  const servers = list(text);
  return servers?.every((server) => !server.includes('@')) === true ? servers : undefined;
};

const MIB = 1024 * 1024;
const mebibytes: Reader<number> = (text) => {
  const value = number(0.001, 1_000_000)(text);
  return value === undefined ? undefined : Math.round(value * MIB);
};

/** Where NATS is; for every command. */
export const natsSettings = {
  nats: {
    flag: 'nats',
    value: 'urls',
    help: 'NATS servers, separated by commas',
    read: natsServers,
    fallback: ['nats://127.0.0.1:4222'],
  },
  credentialsFile: {
    flag: 'nats-credentials',
    value: 'file',
    help: 'NATS credentials file (.creds)',
    read: line,
    fallback: '',
  },
  ca: {
    flag: 'nats-ca',
    value: 'file',
    help: 'certificate authority for the NATS servers',
    read: line,
    fallback: '',
  },
  prefix: {
    flag: 'prefix',
    value: 'name',
    help: 'prefix of streams and subjects, for several relays on one NATS',
    read: (text: string) => (/^[A-Za-z0-9_-]{1,32}$/.test(text) ? text : undefined),
    fallback: 'svc-relay',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const serveSettings = {
  port: {
    flag: 'port',
    value: 'number',
    help: 'port to listen on; 0 takes a free one',
    read: whole(0, 65_535),
    fallback: 7500,
  },
  host: { flag: 'host', value: 'address', help: 'address to listen on', read: line, fallback: '127.0.0.1' },
  publicUrl: {
    flag: 'public-url',
    value: 'url',
    help: 'public address of the relay, used in the addresses of new channels',
    read: origin,
    fallback: '',
  },
  openChannels: {
    flag: 'open-channels',
    help: 'let GET /new make channels that anyone with the address can read, as clients of the public relay expect',
    read: yes,
    fallback: false,
  },
  ping: { flag: 'ping', value: 'seconds', help: 'heartbeat of streams', read: whole(1, 60), fallback: 30 },
  stall: {
    flag: 'stall',
    value: 'seconds',
    help: 'disconnect a subscriber that reads nothing for this long while data is waiting for it',
    read: number(0.1, 3600),
    fallback: 60,
  },
  trustedProxies: {
    flag: 'trusted-proxy',
    value: 'networks',
    help: 'proxies whose X-Forwarded-For is trusted (CIDR, separated by commas)',
    read: networks,
    fallback: noNetworks,
  },
  allowedSenders: {
    flag: 'allow-senders',
    value: 'networks',
    help: 'accept deliveries only from these networks (CIDR, separated by commas)',
    read: networks,
    fallback: noNetworks,
  },
  createKeyFile: {
    flag: 'create-key-file',
    value: 'file',
    help: 'file with the key required to make a channel; without it anyone can make one',
    read: line,
    fallback: '',
  },
  channelRate: {
    flag: 'channel-rate',
    value: 'per second',
    help: 'rate of deliveries per channel',
    read: number(0.01, 1e6),
    fallback: 100,
  },
  channelBurst: {
    flag: 'channel-burst',
    value: 'number',
    help: 'burst of deliveries per channel',
    read: whole(1, 1e6),
    fallback: 1000,
  },
  channelBytes: {
    flag: 'channel-bytes',
    value: 'MiB per second',
    help: 'rate of bytes per channel; a burst is ten seconds of it, at least 100 MiB',
    read: mebibytes,
    fallback: 10 * MIB,
  },
  addressRate: {
    flag: 'address-rate',
    value: 'per second',
    help: 'rate of requests per address',
    read: number(0.01, 1e6),
    fallback: 500,
  },
  addressBurst: {
    flag: 'address-burst',
    value: 'number',
    help: 'burst of requests per address',
    read: whole(1, 1e6),
    fallback: 5000,
  },
  addressBytes: {
    flag: 'address-bytes',
    value: 'MiB per second',
    help: 'rate of bytes per address',
    read: mebibytes,
    fallback: 50 * MIB,
  },
  newPerHour: {
    flag: 'new-channels-per-hour',
    value: 'number',
    help: 'channels that one address may make',
    read: whole(1, 1e6),
    fallback: 60,
  },
  subscribersPerChannel: {
    flag: 'subscribers-per-channel',
    value: 'number',
    help: 'open streams per channel',
    read: whole(1, 1e6),
    fallback: 1000,
  },
  subscribersPerAddress: {
    flag: 'subscribers-per-address',
    value: 'number',
    help: 'open streams per address',
    read: whole(1, 1e6),
    fallback: 1000,
  },
  subscribers: {
    flag: 'max-subscribers',
    value: 'number',
    help: 'open streams in this process',
    read: whole(1, 1e7),
    fallback: 20_000,
  },
  noLimits: { flag: 'no-limits', help: 'no rate limits, for tests on loopback', read: yes, fallback: false },
  maxUnderWay: {
    flag: 'max-under-way',
    value: 'MiB',
    help: 'bodies in memory at once',
    read: mebibytes,
    fallback: 256 * MIB,
  },
  maxUnsent: {
    flag: 'max-unsent',
    value: 'MiB',
    help: 'unsent bytes over all streams; above this the slowest readers are disconnected, and resume',
    read: mebibytes,
    fallback: 128 * MIB,
  },
  spill: {
    flag: 'spill',
    value: 'folder',
    help: 'folder to hold deliveries in while a stream has no leader, one per process; without it they get 503',
    read: line,
    fallback: '',
  },
  maxSpill: {
    flag: 'max-spill',
    value: 'MiB',
    help: 'bytes held there; above this deliveries get 503',
    read: mebibytes,
    fallback: 256 * MIB,
  },
  provision: {
    flag: 'provision',
    help: 'create or upgrade the streams first, with the defaults',
    read: yes,
    fallback: false,
  },
  logLevel: {
    flag: 'log-level',
    value: 'level',
    help: 'debug, info, warn or error',
    read: (text: string) => (['debug', 'info', 'warn', 'error', 'silent'].includes(text) ? text : undefined),
    fallback: 'info',
  },
  portFile: {
    flag: 'port-file',
    value: 'file',
    help: 'write {"pid","port"} to this file once it is listening',
    read: line,
    fallback: '',
  },
} as const satisfies Record<string, Setting<unknown>>;

/** 0 and empty: keep what the streams have, or the default for new ones. */
export const provisionSettings = {
  shards: {
    flag: 'shards',
    value: 'number',
    help: 'streams that the channels are spread over (default 16); cannot be changed later',
    read: whole(1, 256),
    fallback: 0,
  },
  replicas: {
    flag: 'replicas',
    value: 'number',
    help: 'copies of each stream: 1, 3 or 5 (default: 3 in a cluster, else 1)',
    read: (text: string) => (['1', '3', '5'].includes(text) ? Number(text) : undefined),
    fallback: 0,
  },
  placementTags: {
    flag: 'placement-tags',
    value: 'tags',
    help: 'tags of the servers that may hold the streams, separated by commas',
    read: list,
    fallback: [] as string[],
  },
  maxAgeHours: {
    flag: 'max-age',
    value: 'hours',
    help: 'how long deliveries are kept (default 72)',
    read: number(0.01, 24 * 366),
    fallback: 0,
  },
  maxDeliveries: {
    flag: 'max-deliveries',
    value: 'number',
    help: 'deliveries kept per channel (default 250000)',
    read: whole(1, 1e9),
    fallback: 0,
  },
  maxChannelBytes: {
    flag: 'max-channel-bytes',
    value: 'MiB',
    help: 'MiB kept per channel (default 1024)',
    read: mebibytes,
    fallback: 0,
  },
  maxShardBytes: {
    flag: 'max-shard-bytes',
    value: 'MiB',
    help: 'MiB kept per stream (default 2048); the server reserves them',
    read: mebibytes,
    fallback: 0,
  },
  shrink: {
    flag: 'shrink',
    help: 'allow smaller limits, which drop stored deliveries',
    read: yes,
    fallback: false,
  },
  dryRun: { flag: 'dry-run', help: 'print the plan, and change nothing', read: yes, fallback: false },
} as const satisfies Record<string, Setting<unknown>>;

export const conformSettings = {
  createKeyFile: {
    flag: 'create-key-file',
    value: 'file',
    help: 'file with the key required to make a channel, if the server asks for one',
    read: line,
    fallback: '',
  },
  timeout: {
    flag: 'timeout',
    value: 'seconds',
    help: 'longest wait for one answer or one frame; a row may take six times as long',
    read: number(0.1, 600),
    fallback: 10,
  },
  rows: {
    flag: 'rows',
    value: 'clauses',
    help: 'check only these rows, separated by commas',
    read: list,
    fallback: [] as string[],
  },
} as const satisfies Record<string, Setting<unknown>>;

export type Values<Table extends Record<string, Setting<unknown>>> = {
  [Name in keyof Table]: Table[Name]['fallback'] extends infer Fallback ? Widened<Fallback> : never;
};
type Widened<T> = T extends number
  ? number
  : T extends boolean
    ? boolean
    : T extends string
      ? string
      : T extends readonly string[]
        ? string[]
        : T;

/** `variableOf('public-url')` is `SVC_RELAY_PUBLIC_URL`. */
export function variableOf(flag: string): string {
  return `SVC_RELAY_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** `flags` by name, as typed; `true` for a switch. */
export function readSettings<Table extends Record<string, Setting<unknown>>>(
  table: Table,
  flags: Readonly<Record<string, string | boolean | undefined>>,
  environment: Environment,
): Values<Table> {
  const values = Object.entries(table).map(([name, setting]) => {
    const typed = flags[setting.flag];
    const variable = variableOf(setting.flag);
    const text = typed === undefined ? environment[variable] : String(typed);
    if (text === undefined) return [name, setting.fallback];
    const value = setting.read(text);
    if (value !== undefined) return [name, value];
    const where = typed === undefined ? variable : `--${setting.flag}`;
    throw new Failure(
      typed === undefined ? 'settings-invalid' : 'usage',
      `${where}: ${hintFor(setting.flag, text)} (${setting.help}).`,
    );
  });
  return Object.fromEntries(values) as Values<Table>;
}

/** A password in an address is not repeated. */
function hintFor(flag: string, text: string): string {
  if (flag === 'nats' && text.includes('@'))
    return 'do not put credentials into the address; use SVC_RELAY_NATS_USER and SVC_RELAY_NATS_PASSWORD, SVC_RELAY_NATS_TOKEN or --nats-credentials';
  return `'${text}' is not valid`;
}

/** Refused if anyone but its owner and group can read it, or anyone but its owner can write it. */
export function readSecretFile(path: string, what: string): string {
  return readTextFile(path, what, 0o027);
}

export function readTextFile(path: string, what: string, forbiddenMode = 0): string {
  try {
    const file = openSync(path, 'r');
    try {
      const mode = fstatSync(file).mode & 0o777;
      if ((mode & forbiddenMode) !== 0)
        throw new Failure(
          'file-unusable',
          `The ${what} is accessible to other users: ${path} has mode ${mode.toString(8)}.`,
          `Run: chmod 600 ${path}`,
        );
      return readFileSync(file, 'utf8').trim();
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    const why = messageOf(error);
    throw new Failure('file-unusable', `The ${what} cannot be read: ${why}.`, undefined, { cause: error });
  }
}
