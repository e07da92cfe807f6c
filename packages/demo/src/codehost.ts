// The demo's code host: the part of its API that the daemon calls. It stores created hooks and never has new data,
// because every event is sent as a delivery. Its client program is gh.ts.
import { sendJson, startLocalServer } from './local-server.ts';

type Hook = { id: number; active: boolean; events: string[]; config: Record<string, unknown> };
export type Answer = { status: number; body: unknown };

/** `host` is the client's GH_HOST. */
export type ScriptedCodehost = { host: string; close: () => Promise<void> };

export async function startScriptedCodehost(): Promise<ScriptedCodehost> {
  const answer = createAnswers();
  const { port, close } = await startLocalServer(({ method, url, body: asked }, response) => {
    const { status, body } = answer(method, url.pathname, asked);
    sendJson(response, status, body);
  });
  return { host: `127.0.0.1:${port}`, close };
}

/** `answer('GET', '/repos/acme/web/hooks?per_page=100', '')` is an empty list at first. */
export function createAnswers(): (method: string, path: string, body: string) => Answer {
  const hooks = new Map<string, Hook[]>();
  return (method, path, body) => {
    const { pathname } = new URL(path, 'http://codehost');
    if (pathname === '/graphql') return { status: 200, body: { data: nothingNew(body) } };
    if (pathname === '/rate_limit') return { status: 200, body: { resources: {} } };
    const [, repo = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/?(.*)$/.exec(pathname) ?? [];
    if (repo === '') return notFound;
    if (rest === '') return { status: 200, body: { full_name: repo, permissions: { admin: true } } };
    const known = hooks.get(repo) ?? [];
    if (rest === 'hooks' && method === 'GET') return { status: 200, body: known.map(withoutSecret) };
    if (rest === 'hooks' && method === 'POST') {
      const given = JSON.parse(body) as Omit<Hook, 'id'>;
      const hook = { ...given, id: 7_001 + known.length };
      hooks.set(repo, [...known, hook]);
      return { status: 201, body: withoutSecret(hook) };
    }
    // Empty: everything was sent as a delivery, and every delivery arrived.
    const isEmptyList = /^(?:hooks\/\d+\/deliveries|deployments|deployments\/\d+\/statuses|issues)$/.test(
      rest,
    );
    return method === 'GET' && isEmptyList ? { status: 200, body: [] } : notFound;
  };
}

const notFound: Answer = { status: 404, body: { message: 'Not Found' } };

function withoutSecret({ config: { secret: _, ...config }, ...hook }: Hook): Hook {
  return { ...hook, config };
}

/** Each requested repository under its alias, without new pull requests. */
function nothingNew(body: string): Record<string, object> {
  const { variables = {} } = JSON.parse(body) as { variables?: Record<string, string> };
  const indexes = Object.keys(variables).flatMap((name) => /^o(\d+)$/.exec(name)?.[1] ?? []);
  return Object.fromEntries(
    indexes.map((index) => [
      `r${index}`,
      { nameWithOwner: `${variables[`o${index}`]}/${variables[`n${index}`]}`, newest: { nodes: [] } },
    ]),
  );
}
