// Who gets a response. The mode is chosen when the daemon starts:
//   owner   the kernel reports which user is behind a connection: only the daemon's own user and root get a response
//   token   it cannot do so here: a client gets a response if it sends the token in a file that only the owner can read,
//           or the key of a page that `svc open` opened
//   show    for a reverse proxy (`svc team serve`): only reading requests with the token get a response. The token stays
//           the same at every start, because the proxy's configuration has it
import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { system } from '@svc/lib/system';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import type { AccessHealth } from './access-health.ts';
import { accessRoutes } from './api.ts';
import { createCallers, type ReadSocketTable, tableTellsUsers } from './socket-table.ts';
import { readToken, tokenFile } from './token-file.ts';

const CODE_COUNTS_MS = 60_000;
/** The oldest one is dropped when there are more. */
const MOST_KEPT = 1_000;

/** The refusal, in the shape of every error. */
export type Refusal = { status: 401 | 403; code: string; error: string; remedy: string };

export type Access = {
  /** Judges the client at the other end; determined once for each connection. */
  refuseConnection: (socket: Socket) => Refusal | undefined | Promise<Refusal | undefined>;
  /** Judges a request for anything but the dashboard's files, which contain no data. */
  refuseRequest: (request: IncomingMessage) => Refusal | undefined;
  /** It judges them too. */
  guardsFiles?: boolean;
  report: () => AccessHealth;
  /** A code that opens the dashboard once, within a minute. */
  createCode: () => { code: string; expiresAt: string };
  /** The key that a page sends from now on, until the daemon ends; undefined for an invalid code. */
  exchangeCode: (code: string) => string | undefined;
};

export async function createAccess(options: {
  dataDir: string;
  /** The kernel's table, unless a test provides another. */
  read: ReadSocketTable | undefined;
  /** The mode `show`. */
  readOnly?: boolean | undefined;
  now: () => number;
}): Promise<Access> {
  const { dataDir, read = system.socketTable, readOnly = false, now } = options;
  /** The daemon's own user; undefined on systems without user ids. */
  const uid = process.geteuid?.();
  const refused: Record<string, number> = {};
  const count = (why: string): void => void (refused[why] = (refused[why] ?? 0) + 1);
  const pages = createPageKeys(now);
  if (!readOnly && uid !== undefined && (await tableTellsUsers({ read, uid }))) {
    rmSync(tokenFile(dataDir), { force: true });
    return {
      refuseConnection: refuseStrangers({ read, uid, count }),
      refuseRequest: () => undefined,
      report: () => ({ by: 'owner', refused: { ...refused } }),
      ...pages,
    };
  }
  const kept = readOnly ? /^[\w-]{43}$/.exec(readToken(dataDir) ?? '')?.[0] : undefined;
  const token = kept ?? randomBytes(32).toString('base64url');
  await writeFileAtomically(tokenFile(dataDir), `${token}\n`, { mode: 0o600, folderMode: 0o700 });
  const isToken = isOneOf(new Set([digest(token)]));
  return {
    refuseConnection: () => undefined,
    refuseRequest(request) {
      const given = bearerOf(request);
      if (given !== undefined && (isToken(given) || pages.isKey(given))) {
        if (!readOnly || request.method === 'GET' || request.method === 'HEAD') return undefined;
        count('read-only');
        return onlyShows;
      }
      // A page without a key exchanges its code for one.
      if (!readOnly && request.method === 'POST' && request.url === accessRoutes.exchangeCode.path)
        return undefined;
      count(given === undefined ? 'no-token' : 'wrong-token');
      return tokenNeeded(given !== undefined, tokenFile(dataDir), readOnly);
    },
    guardsFiles: readOnly,
    report: () => ({ by: 'token', refused: { ...refused }, ...(readOnly && { readOnly }) }),
    ...pages,
  };
}

function refuseStrangers({
  read,
  uid,
  count,
}: {
  read: ReadSocketTable;
  uid: number;
  count: (why: string) => void;
}): Access['refuseConnection'] {
  const callers = createCallers({ read, uid });
  const judged = new WeakMap<Socket, Refusal | 'answered' | Promise<Refusal | undefined>>();
  return (socket) => {
    const known = judged.get(socket);
    if (known !== undefined) return known === 'answered' ? undefined : known;
    const found = callers.refuse(socket).then((why) => {
      if (why !== undefined) count(why);
      const refusal = why === undefined ? undefined : notTheOwner;
      judged.set(socket, refusal ?? 'answered');
      return refusal;
    });
    judged.set(socket, found);
    return found;
  };
}

/** Other users get the same response whatever the reason: it is none of their business. */
const notTheOwner: Refusal = {
  status: 403,
  code: 'not-the-owner',
  error: 'The daemon only accepts connections from its own user.',
  remedy:
    'Run this as the user who started the daemon. To see why connections were refused: svc monitor status --json',
};

const onlyShows: Refusal = {
  status: 403,
  code: 'read-only',
  error: 'This daemon only shows the board of the team. Nothing can be changed through it.',
  remedy:
    'Change it on the machine that does the work. Here: stop svc team serve, then run svc monitor start',
};

function tokenNeeded(wasGiven: boolean, file: string, readOnly: boolean): Refusal {
  const open = readOnly ? 'The reverse proxy adds the token' : 'To open the dashboard: svc open';
  return {
    status: 401,
    code: 'token-needed',
    error: wasGiven ? 'The token does not belong to this daemon.' : 'This daemon requires a token.',
    remedy: `${open}. Programs send the token in ${file}: curl -H "Authorization: Bearer $(cat '${file}')" …`,
  };
}

function createPageKeys(now: () => number) {
  const codes = new Map<string, number>();
  const keys = new Set<string>();
  return {
    isKey: isOneOf(keys),
    createCode() {
      const code = randomBytes(24).toString('base64url');
      const until = now() + CODE_COUNTS_MS;
      codes.set(digest(code), until);
      dropOldest(codes);
      return { code, expiresAt: new Date(until).toISOString() };
    },
    exchangeCode(code: string) {
      const name = digest(code);
      const until = codes.get(name) ?? 0;
      codes.delete(name);
      if (now() >= until) return undefined;
      const key = randomBytes(32).toString('base64url');
      keys.add(digest(key));
      dropOldest(keys);
      return key;
    },
  };
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) return;
    kept.delete(oldest);
  }
}

/** Compares digests, so the time it takes reveals nothing about the secret. */
function isOneOf(digests: ReadonlySet<string>): (given: string) => boolean {
  return (given) => digests.has(digest(given));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}
