// A fake of the code host's cloud on loopback, behind HTTPS, for the real client program: REST under `/api/v3`, GraphQL
// at `/api/graphql`. It counts every call, really delivers webhooks, and fails on command.
//
//   const codehost = await startFakeCodehost({ folder: temporaryFolder() });
//   codehost.addToken('token');
//   codehost.cloud.addRepo('acme/web');
//   … spawn('gh', ['api', 'repos/acme/web/hooks'], { env: ghEnvironment(codehost, 'token') })
//   await codehost.emit('acme/web', 'push', payload);
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../payloads/examples.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Answer, notAdmin, notFound, Refusal, type Route, toJson } from './answer.ts';
import { type CodehostCloud, createCodehostCloud, fullNameOf, viewer } from './cloud.ts';
import { createDeliverer, type Deliverer } from './deliver.ts';
import { createFaultPlan, delay, type FaultPlan, refusalOf, send } from './faults.ts';
import { hookRoutes } from './hook-routes.ts';
import { issueRoutes } from './issue-routes.ts';
import { site } from './issue-views.ts';
import { createIssues, type Issues } from './issues.ts';
import { checkRoutes, compareRoutes, deliveryRoutes, deploymentRoutes, mergeRoutes } from './routes.ts';

// Authentication, and what the token's scopes allow.

type KnownToken = { token: string; scopes: string[]; login: string };

const hookScopes = {
  read: ['admin:repo_hook', 'public_repo', 'read:repo_hook', 'repo', 'write:repo_hook'],
  write: ['admin:repo_hook', 'public_repo', 'repo', 'write:repo_hook'],
  remove: ['admin:repo_hook', 'public_repo', 'repo'],
} as const;

function callerOf(authorization: string | undefined, known: readonly KnownToken[]): KnownToken {
  if (authorization === undefined) throw new Refusal(401, 'Requires authentication');
  const [, token] = /^(?:token|bearer) (.+)$/i.exec(authorization) ?? [];
  const caller = known.find((one) => one.token === token);
  if (caller === undefined) throw new Refusal(401, 'Bad credentials');
  return caller;
}

/** A token without the scope gets 404, and the list of accepted scopes. */
export function needHookScope(caller: KnownToken, method: string): void {
  const accepted = hookScopes[method === 'GET' ? 'read' : method === 'DELETE' ? 'remove' : 'write'];
  if (accepted.some((scope) => caller.scopes.includes(scope))) return;
  throw notFound({ 'X-Accepted-OAuth-Scopes': accepted.join(', ') });
}

// The hourly quotas, one for REST and one for GraphQL: every call counts, and every answer shows them.

export type QuotaName = 'core' | 'graphql';
type Quota = { limit: number; remaining: number; resetAt: number };

const HOUR_MS = 3_600_000;
const LIMIT = 5_000;

export function createQuotas(now: () => number) {
  const fresh = (): Quota => ({ limit: LIMIT, remaining: LIMIT, resetAt: now() + HOUR_MS });
  const quotas: Record<QuotaName, Quota> = { core: fresh(), graphql: fresh() };

  const current = (name: QuotaName): Quota => {
    if (now() >= quotas[name].resetAt) quotas[name] = { ...fresh(), limit: quotas[name].limit };
    return quotas[name];
  };

  return {
    set: (name: QuotaName, change: Partial<Quota>): void => void Object.assign(current(name), change),
    /** False if nothing is left. */
    take(name: QuotaName): boolean {
      const quota = current(name);
      if (quota.remaining <= 0) return false;
      quota.remaining -= 1;
      return true;
    },
    /** An answer that says «not modified» costs nothing. */
    giveBack: (name: QuotaName): void => void (current(name).remaining += 1),
    headers(name: QuotaName): Record<string, string> {
      const { limit, remaining, resetAt } = current(name);
      return {
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': String(remaining),
        'X-RateLimit-Used': String(limit - remaining),
        'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)),
        'X-RateLimit-Resource': name,
      };
    },
    /** `GET /rate_limit`, which costs nothing. */
    report(): Answer {
      const view = (name: QuotaName) => {
        const { limit, remaining, resetAt } = current(name);
        return {
          limit,
          remaining,
          used: limit - remaining,
          reset: Math.ceil(resetAt / 1000),
          resource: name,
        };
      };
      return {
        status: 200,
        body: { resources: { core: view('core'), graphql: view('graphql') }, rate: view('core') },
      };
    },
  };
}

export type CodehostRequest = { line: string; headers: IncomingMessage['headers']; body: string };

export type FakeCodehost = Pick<FaultPlan, 'failNext' | 'restore'> &
  Pick<Deliverer, 'emit'> & {
    port: number;
    /** The certificate to trust. */
    authorityFile: string;
    folder: string;
    cloud: CodehostCloud;
    /** Changes of issues and projects that hooks hear of; `cloud.addIssue` is silent. */
    issues: Issues;
    /** `login` is its owner. */
    addToken: (token: string, scopes?: string[], login?: string) => void;
    removeToken: (token: string) => void;
    /** `METHOD /path?query` of every call so far, in order. */
    calls: () => string[];
    requests: () => readonly CodehostRequest[];
    /** How often each kind of call was made: `GET issues/:n`, `graphql repository`. */
    callCounts: () => Record<string, number>;
    forgetCalls: () => void;
    setQuota: (name: QuotaName, quota: Partial<Quota>) => void;
    close: () => Promise<void>;
  };

export type FakeCodehostOptions = {
  /** The folder for its certificates; removed after the test. */
  folder: string;
  now?: () => number;
  /** The public service allows 20, a self-hosted installation 250. */
  hooksPerEvent?: number;
};

const allScopes = ['admin:repo_hook', 'repo', 'project'];

export async function startFakeCodehost(options: FakeCodehostOptions): Promise<FakeCodehost> {
  const { folder, now = Date.now, hooksPerEvent = 250 } = options;
  // Loaded here and not above: most tests that use this package do not need GraphQL.
  const { answerGraphql, rateLimitedAnswer } = await import('./graphql.ts');
  const { createRoot } = await import('./graphql-root.ts');
  const { rootFieldsOf } = await import('../tracker/execute.ts');
  const certificate = await makeLoopbackCertificate(folder);
  const cloud = createCodehostCloud(now);
  const deliverer = createDeliverer(cloud, now);
  const issues = createIssues(cloud, deliverer);
  const quotas = createQuotas(now);
  const faults = createFaultPlan();
  const tokens: KnownToken[] = [];
  const requests: CodehostRequest[] = [];
  const routes: Route[] = [
    ...hookRoutes({ cloud, deliverer, now, hooksPerEvent }),
    ...deliveryRoutes({ deliverer, now }),
    ...deploymentRoutes(),
    ...compareRoutes(),
    ...issueRoutes({ cloud, issues }),
    ...checkRoutes(),
    ...mergeRoutes({ cloud }),
  ];

  const answerRepo = async (
    method: string,
    url: URL,
    body: JsonObject,
    caller: KnownToken,
  ): Promise<Answer> => {
    const base = `${url.origin}/api/v3`;
    const [, owner, name, byId, rest = ''] =
      /^\/api\/v3\/(?:repos\/([^/]+)\/([^/]+)|repositories\/(\d+))(?:\/(.*))?$/.exec(url.pathname) ?? [];
    const moved = byId === undefined ? undefined : cloud.byId(Number(byId));
    const found = moved ? { repo: moved, moved: false } : cloud.find(`${owner}/${name}`);
    if (found === undefined) throw notFound();
    const { repo } = found;
    if (found.moved) {
      const Location = `${base}/repositories/${repo.id}/${rest}${url.search}`;
      return {
        status: method === 'GET' ? 301 : 307,
        body: { message: 'Moved Permanently' },
        headers: { Location },
      };
    }
    if (rest === '' && method === 'GET') {
      const permissions = { admin: repo.admin, push: true, pull: true };
      return {
        status: 200,
        body: { id: repo.id, full_name: fullNameOf(repo), permissions, ...repo.settings },
      };
    }
    const route = routes.find((one) => one.method === method && one.path.test(rest));
    if (route === undefined) throw notFound();
    if (route.needs === 'hooks') {
      needHookScope(caller, method);
      if (!repo.admin) throw method === 'GET' ? notFound() : notAdmin();
    }
    const [, ...parts] = route.path.exec(rest) ?? [];
    return route.answer({ repo, parts, url, body, base, login: caller.login });
  };

  const answer = async (request: IncomingMessage, url: URL, body: string): Promise<Answer> => {
    const method = request.method ?? 'GET';
    const isGraphql = url.pathname === '/api/graphql';
    const caller = callerOf(request.headers.authorization, tokens);
    const scopes = { 'X-OAuth-Scopes': caller.scopes.join(', ') };
    if (url.pathname === '/api/v3/rate_limit') return quotas.report();
    const quota: QuotaName = isGraphql ? 'graphql' : 'core';
    const isLeft = quotas.take(quota);
    const headers = { ...scopes, ...quotas.headers(quota) };
    if (!isLeft && isGraphql) return { ...rateLimitedAnswer(), headers };
    if (!isLeft) throw new Refusal(403, 'API rate limit exceeded for user ID 1.', { headers });
    const json = (body === '' ? {} : JSON.parse(body)) as JsonObject;
    try {
      if (isGraphql) return { ...(await answerGraphql(createRoot(cloud, issues, caller), json)), headers };
      const given = tagged(method, await answerRepo(method, url, json, caller));
      const isKnown = given.headers?.['ETag'] === request.headers['if-none-match'];
      if (given.headers?.['ETag'] === undefined || !isKnown)
        return { ...given, headers: { ...headers, ...given.headers } };
      quotas.giveBack(quota);
      return { status: 304, headers: { ...scopes, ...quotas.headers(quota), ...given.headers } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { ...error.answer, headers: { ...headers, ...error.answer.headers } };
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', `https://${request.headers.host}`);
    const line = `${request.method} ${request.url}`;
    const body = await text(request);
    const received = { line, headers: request.headers, body };
    requests.push(received);
    const fault = faults.take(`${line} ${kindOf(received, rootFieldsOf)}`);
    await delay(fault);
    const refusal = fault && refusalOf(fault);
    const given = refusal?.answer ?? (await answer(request, url, body));
    const headers = { Date: new Date(now()).toUTCString(), ...given.headers };
    send(response, { ...given, headers }, given.text ?? toJson(given.body ?? {}), fault);
  };

  const server = createServer(certificate, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      const given =
        error instanceof Refusal
          ? error.answer
          : new Refusal(500, `The fake failed: ${String(error)}`).answer;
      const headers = { Date: new Date(now()).toUTCString(), ...given.headers };
      send(response, { ...given, headers }, toJson(given.body), undefined);
    });
  });
  // It is the proxy to itself, for clients that know it by its name.
  server.on('connect', (_request, socket: Duplex) => {
    const inner = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(inner).pipe(socket);
    });
    for (const end of [inner, socket]) end.on('error', () => void (inner.destroy(), socket.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    port,
    authorityFile: certificate.authorityFile,
    folder,
    cloud,
    emit: (...given) => deliverer.emit(...given),
    failNext: faults.failNext,
    restore: faults.restore,
    issues,
    addToken: (token, scopes = allScopes, login = viewer) => void tokens.push({ token, scopes, login }),
    removeToken: (token) =>
      void tokens.splice(
        tokens.findIndex((known) => known.token === token),
        1,
      ),
    calls: () => requests.map(({ line }) => line),
    requests: () => requests,
    callCounts() {
      const counts: Record<string, number> = {};
      for (const request of requests) {
        const kind = kindOf(request, rootFieldsOf);
        counts[kind] = (counts[kind] ?? 0) + 1;
      }
      return counts;
    },
    forgetCalls: () => void requests.splice(0),
    setQuota: quotas.set,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A successful read with its ETag. */
function tagged(method: string, given: Answer): Answer {
  if (method !== 'GET' || given.status !== 200) return given;
  const sent = given.text ?? toJson(given.body ?? {});
  const ETag = `W/"${createHash('sha256').update(sent).digest('hex')}"`;
  return { ...given, text: sent, headers: { ...given.headers, ETag } };
}

/** The operation without names and numbers. */
function kindOf({ line, body }: CodehostRequest, rootFieldsOf: (query: string) => string[]): string {
  const [method = '', path = ''] = line.split(/[ ?]/);
  const rest = path.replace(/^\/api\/v3\/(repos\/[^/]+\/[^/]+\/)?/, '').replace(/\b\d+\b/g, ':n');
  if (path !== '/api/graphql') return `${method} ${rest}`;
  try {
    const { query = '' } = JSON.parse(body) as { query?: string };
    return `graphql ${[...new Set(rootFieldsOf(query))].join('+')}`;
  } catch {
    return 'graphql';
  }
}

// A certificate authority and a certificate for loopback, created when needed: the real client requires HTTPS, and no
// secret is committed. All fakes of a process use the same, because creating one starts three processes.

const run = promisify(execFile);

type Certificate = { key: string; cert: string };

export type LoopbackCertificate = Certificate & {
  /** For `SSL_CERT_FILE` of the clients that have to trust it. */
  authorityFile: string;
};

let created: Promise<Certificate & { authority: string }> | undefined;

export async function makeLoopbackCertificate(folder: string): Promise<LoopbackCertificate> {
  created ??= createCertificate();
  const { authority, key, cert } = await created;
  const authorityFile = join(folder, 'ca.crt');
  await writeFile(authorityFile, authority);
  return { key, cert, authorityFile };
}

async function createCertificate(): Promise<Certificate & { authority: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-certificate-'));
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = `subjectAltName=DNS:localhost,DNS:${codehostName},IP:127.0.0.1\nextendedKeyUsage=serverAuth\n`;
  await writeFile(join(folder, 'names'), names);
  const asAuthority = [
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    '2',
    '-subj',
    '/CN=svc test authority',
  ];
  await openssl('req', '-x509', ...newKey, ...asAuthority);
  await openssl('req', ...newKey, '-keyout', 'host.key', '-out', 'host.csr', '-subj', '/CN=localhost');
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  await openssl('x509', '-req', '-in', 'host.csr', ...signing, '-out', 'host.crt');
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  const made = { key: await read('host.key'), cert: await read('host.crt'), authority: await read('ca.crt') };
  await rm(folder, { recursive: true });
  return made;
}

// The environment in which the real client program talks only to the fake.

/** Without a token the client is logged out. `path` is the search path for programs. */
export function ghEnvironment(
  codehost: Pick<FakeCodehost, 'port' | 'authorityFile' | 'folder'>,
  token?: string,
  path = '/usr/bin:/bin',
): Record<string, string> {
  return {
    PATH: path,
    HOME: codehost.folder,
    GH_HOST: `localhost:${codehost.port}`,
    GH_CONFIG_DIR: join(codehost.folder, 'gh'),
    GH_PROMPT_DISABLED: '1',
    SSL_CERT_FILE: codehost.authorityFile,
    // It ends after one request; collecting garbage is a sixth of its processor time.
    GOGC: 'off',
    ...(token !== undefined && { GH_ENTERPRISE_TOKEN: token }),
  };
}

/** The name in all addresses that the fake gives. */
export const codehostName = new URL(site).host;

/**
 * The same, but the client knows the fake by its name, as in a clone with the remote
 * `https://codehost.example/acme/web.git`: it ignores the port of a remote.
 */
export function ghEnvironmentByName(...given: Parameters<typeof ghEnvironment>): Record<string, string> {
  const proxy = `https://localhost:${given[0].port}`;
  return { ...ghEnvironment(...given), GH_HOST: codehostName, HTTPS_PROXY: proxy };
}

/** Runs the real client program; its result has the exit code. `cwd` is a clone, whose remote has the fake's name. */
export function runGh(
  codehost: FakeCodehost,
  args: readonly string[],
  { input = '', token = testToken, cwd }: { input?: string; token?: string; cwd?: string } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options =
      cwd === undefined
        ? { env: ghEnvironment(codehost, token) }
        : { env: ghEnvironmentByName(codehost, token), cwd };
    const child = execFile('gh', args, options, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

// A fake code host for one test: it has a token, and is stopped when the test ends.

export const testToken = 'gho_0123456789abcdef';

export async function codehostForTest(options: Partial<FakeCodehostOptions> = {}): Promise<FakeCodehost> {
  const codehost = await startFakeCodehost({ folder: temporaryFolder('svc-codehost-'), ...options });
  onTestFinished(() => codehost.close());
  codehost.addToken(testToken);
  return codehost;
}
