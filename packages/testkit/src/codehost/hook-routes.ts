// `repos/:owner/:repo/hooks`: list, create, change, remove. The secret is accepted and never shown.
import type { JsonObject } from '../payloads/examples.ts';
import { type Answer, type Call, invalid, isoTime, notFound, numberedPage, type Route } from './answer.ts';
import { type CodehostCloud, fullNameOf, type HookConfig, type HookRow, type RepoRow } from './cloud.ts';
import type { Deliverer } from './deliver.ts';

export function hookRoutes(options: {
  cloud: CodehostCloud;
  deliverer: Deliverer;
  now: () => number;
  hooksPerEvent: number;
}): Route[] {
  const { cloud, deliverer, now, hooksPerEvent } = options;

  const list = ({ repo, url, base }: Call): Answer =>
    numberedPage(url, repo.hooks, (hook) => view(base, repo, hook));

  const create = async ({ repo, body, base }: Call): Promise<Answer> => {
    const config = configIn(body['config'], undefined);
    const events = eventsIn(body['events']) ?? ['push'];
    if ((body['name'] ?? 'web') !== 'web') throw invalid('name is not a valid service');
    if (repo.hooks.some((hook) => isSameHook(hook, config, events)))
      throw invalid('Hook already exists on this repository');
    checkLimit(repo, events, undefined, hooksPerEvent);
    const hook = cloud.addHook(fullNameOf(repo), { active: body['active'] !== false, events, config });
    if (hook.active) await deliverer.ping(repo, hook);
    return { status: 201, body: view(base, repo, hook) };
  };

  /** A new config replaces the old one as a whole; a secret that is not sent again is lost. */
  const change = ({ repo, parts, body, base }: Call): Answer => {
    const hook = hookOf(repo, parts[0]);
    const events = eventsIn(body['events']) ?? hook.events;
    checkLimit(repo, events, hook, hooksPerEvent);
    if (body['config'] !== undefined) hook.config = configIn(body['config'], undefined);
    hook.events = events;
    if (typeof body['active'] === 'boolean') hook.active = body['active'];
    hook.updatedAt = now();
    return { status: 200, body: view(base, repo, hook) };
  };

  const changeConfig = ({ repo, parts, body }: Call): Answer => {
    const hook = hookOf(repo, parts[0]);
    hook.config = configIn(body, hook.config);
    hook.updatedAt = now();
    return { status: 200, body: shownConfig(hook.config) };
  };

  const remove = ({ repo, parts }: Call): Answer => {
    repo.hooks.splice(repo.hooks.indexOf(hookOf(repo, parts[0])), 1);
    return { status: 204 };
  };

  const one = ({ repo, parts, base }: Call): Answer => ({
    status: 200,
    body: view(base, repo, hookOf(repo, parts[0])),
  });

  return [
    { method: 'GET', path: /^hooks$/, needs: 'hooks', answer: list },
    { method: 'POST', path: /^hooks$/, needs: 'hooks', answer: create },
    { method: 'GET', path: /^hooks\/(\d+)$/, needs: 'hooks', answer: one },
    { method: 'PATCH', path: /^hooks\/(\d+)$/, needs: 'hooks', answer: change },
    { method: 'PATCH', path: /^hooks\/(\d+)\/config$/, needs: 'hooks', answer: changeConfig },
    { method: 'DELETE', path: /^hooks\/(\d+)$/, needs: 'hooks', answer: remove },
  ];
}

export function hookOf(repo: RepoRow, id: string | undefined): HookRow {
  const hook = repo.hooks.find((row) => String(row.id) === id);
  if (hook === undefined) throw notFound();
  return hook;
}

function view(base: string, repo: RepoRow, hook: HookRow): object {
  const url = `${base}/repos/${fullNameOf(repo)}/hooks/${hook.id}`;
  return {
    type: 'Repository',
    id: hook.id,
    name: 'web',
    active: hook.active,
    events: hook.events,
    config: shownConfig(hook.config),
    updated_at: isoTime(hook.updatedAt),
    created_at: isoTime(hook.createdAt),
    url,
    test_url: `${url}/test`,
    ping_url: `${url}/pings`,
    deliveries_url: `${url}/deliveries`,
    last_response: { code: null, status: 'unused', message: null },
  };
}

function shownConfig(config: HookConfig): HookConfig {
  return { ...config, ...(config.secret !== undefined && { secret: '********' }) };
}

function isSameHook(hook: HookRow, config: HookConfig, events: string[]): boolean {
  const isSameConfig = hook.config.url === config.url && hook.config.content_type === config.content_type;
  return isSameConfig && hook.events.toSorted().join() === events.toSorted().join();
}

function checkLimit(repo: RepoRow, events: string[], changed: HookRow | undefined, most: number): void {
  // Published as available to hooks of an organization only.
  if (events.includes('projects_v2_item'))
    throw invalid('The "projects_v2_item" event is not for repositories');
  for (const event of events) {
    const having = repo.hooks.filter((hook) => hook !== changed && hook.events.includes(event));
    if (having.length >= most) throw invalid(`The "${event}" event cannot have more than ${most} hooks`);
  }
}

function configIn(given: unknown, before: HookConfig | undefined): HookConfig {
  const config = (given ?? {}) as JsonObject;
  const text = (name: keyof HookConfig): string | undefined => {
    const value = config[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : before?.[name];
  };
  const url = text('url');
  if (url === undefined || !URL.canParse(url)) throw invalid('url is not a valid URL');
  const secret = text('secret');
  return {
    url,
    content_type: text('content_type') ?? 'form',
    insecure_ssl: text('insecure_ssl') ?? '0',
    ...(secret !== undefined && secret !== '' && { secret }),
  };
}

function eventsIn(given: unknown): string[] | undefined {
  return Array.isArray(given) ? [...new Set(given.map(String))] : undefined;
}
