// Sends deliveries as the code host does: one for each active hook that subscribes to the type, of the repository and of
// its organization, signed with the hook's secret, all of one event with the same guid, without automatic retries. The
// result of each is kept.
import { createHmac } from 'node:crypto';
import type { JsonObject } from '../payloads/examples.ts';
import { WAIT_MS } from '../waiting.ts';
import {
  type CodehostCloud,
  type DeliveryRow,
  fullNameOf,
  type HookRow,
  type OrganizationRow,
  type RepoRow,
} from './cloud.ts';

/** Above what a JavaScript number can hold exactly. */
const FIRST_DELIVERY_ID = 9_007_199_254_740_993n;

export type Emitted = { guid: string; deliveries: DeliveryRow[] };
/** `at` is when it was sent, for past deliveries; `unheard` records it and sends nothing. */
export type EmitOptions = { at?: number; guid?: string; unheard?: boolean };

/** Who has hooks. */
type HookOwner = RepoRow | OrganizationRow;

export type Deliverer = ReturnType<typeof createDeliverer>;

export function createDeliverer(cloud: CodehostCloud, now: () => number) {
  let lastId = FIRST_DELIVERY_ID;

  type Sending = Pick<DeliveryRow, 'guid' | 'event' | 'payload' | 'redelivery'>;

  async function deliver(
    owner: HookOwner,
    hook: HookRow,
    sending: Sending,
    options: EmitOptions,
  ): Promise<DeliveryRow> {
    const { body, headers } = requestFor(hook, sending, 'login' in owner ? 'organization' : 'repository');
    const started = performance.now();
    const outcome = options.unheard === true ? accepted : await post(hook.config.url, headers, body);
    const action = sending.payload['action'];
    lastId += 1n;
    const row: DeliveryRow = {
      ...sending,
      ...outcome,
      id: lastId,
      hookId: hook.id,
      deliveredAt: options.at ?? now(),
      durationMs: performance.now() - started,
      action: typeof action === 'string' ? action : null,
      url: hook.config.url,
      requestHeaders: headers,
    };
    owner.deliveries.push(row);
    return row;
  }

  return {
    /** `await codehost.emit('acme/web', 'pull_request', payload)`; `acme` is the organization only. */
    async emit(
      name: string,
      event: string,
      payload: JsonObject,
      options: EmitOptions = {},
    ): Promise<Emitted> {
      const guid = options.guid ?? crypto.randomUUID();
      const sending = { guid, event, payload, redelivery: false };
      const wanting = hookOwners(cloud, name).flatMap((owner) =>
        owner.hooks
          .filter(({ active, events }) => active && (events.includes(event) || events.includes('*')))
          .map((hook) => ({ owner, hook })),
      );
      const deliveries = await Promise.all(
        wanting.map(({ owner, hook }) => deliver(owner, hook, sending, options)),
      );
      return { guid, deliveries };
    },
    /** The first delivery to a new hook. */
    ping(repo: RepoRow, hook: HookRow): Promise<DeliveryRow> {
      const payload = {
        zen: 'Keep it logically awesome.',
        hook_id: hook.id,
        hook: { type: 'Repository', id: hook.id, active: hook.active, events: hook.events },
        repository: { id: repo.id, full_name: fullNameOf(repo) },
      };
      const sending = { guid: crypto.randomUUID(), event: 'ping', payload, redelivery: false };
      return deliver(repo, hook, sending, {});
    },
    /** The same event again: a new id, the same guid. */
    redeliver(repo: RepoRow, hook: HookRow, { guid, event, payload }: DeliveryRow): Promise<DeliveryRow> {
      return deliver(repo, hook, { guid, event, payload, redelivery: true }, {});
    },
  };
}

/** An organization's own events (`projects_v2_item`) go to its hooks only: the vendor publishes no other level. */
function hookOwners(cloud: CodehostCloud, name: string): HookOwner[] {
  const organization = cloud.organization(name.split('/')[0] ?? '');
  return [...(name.includes('/') ? [cloud.repoOf(name)] : []), ...(organization ? [organization] : [])];
}

function requestFor(
  hook: HookRow,
  { guid, event, payload }: Pick<DeliveryRow, 'guid' | 'event' | 'payload'>,
  level: string,
) {
  const json = JSON.stringify(payload);
  const isForm = hook.config.content_type !== 'json';
  const body = isForm ? `payload=${encodeURIComponent(json)}` : json;
  const { secret } = hook.config;
  const headers: Record<string, string> = {
    'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'User-Agent': 'GitHub-Hookshot/0a1b2c3',
    'X-GitHub-Delivery': guid,
    'X-GitHub-Event': event,
    'X-GitHub-Hook-ID': String(hook.id),
    'X-GitHub-Hook-Installation-Target-Type': level,
    ...(secret !== undefined && {
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }),
  };
  return { body, headers };
}

type Outcome = Pick<DeliveryRow, 'status' | 'statusCode' | 'responseHeaders' | 'responseBody'>;

/** What a relay answers even if no one listens. */
const accepted: Outcome = { status: 'OK', statusCode: 200, responseHeaders: {}, responseBody: '' };

async function post(url: string, headers: Record<string, string>, body: string): Promise<Outcome> {
  try {
    const signal = AbortSignal.timeout(WAIT_MS);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    return {
      status: response.ok ? 'OK' : `Invalid HTTP Response: ${response.status}`,
      statusCode: response.status,
      responseHeaders: Object.fromEntries(response.headers),
      responseBody: await response.text(),
    };
  } catch (error) {
    const late = error instanceof Error && error.name === 'TimeoutError';
    return {
      status: late ? 'timed out' : 'failed to connect to host',
      statusCode: late ? 504 : 0,
      responseHeaders: {},
      responseBody: '',
    };
  }
}
