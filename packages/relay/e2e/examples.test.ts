// The files in examples/relay/ against what they claim: the NATS configuration with its logins is run, every
// variable is one that the relay reads, every metric one that it exposes.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import {
  createNatsNode,
  type NatsNode,
  promtoolComplaint,
  relayProgram,
  temporaryFolder,
  WAIT_MS,
} from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { freePort } from '../../testkit/src/daemon/free-port.ts';
import { startServer } from '../../testkit/src/daemon/server-process.ts';
import { createRandom } from '../../testkit/src/random.ts';
import { runCommandLine } from '../src/cli/program.ts';
import { natsSettings, provisionSettings, serveSettings, variableOf } from '../src/cli/settings.ts';
import { send } from '../src/http/testing/relay-for-test.ts';
import { relayWorld } from './relay-world.ts';

const folder = join(import.meta.dirname, '../../../examples/relay');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const documents = (name: string): Record<string, unknown>[] =>
  parseAllDocuments(read(name), { merge: true }).map((document) => {
    expect([name, document.errors, document.warnings]).toEqual([name, [], []]);
    return document.toJS() as Record<string, unknown>;
  });

const passwords = { RELAY_PASSWORD: 'p1a', PROVISION_PASSWORD: 'p2b', ROUTE_PASSWORD: 'p3c' };

describe('nats.conf', () => {
  /** Three nodes with the shipped configuration: only addresses, store and environment values differ. */
  async function cluster(change: (text: string) => string = (text) => text): Promise<NatsNode[]> {
    const home = temporaryFolder();
    const random = createRandom(process.pid * 1000 + (Date.now() % 1000));
    const shipped = read('nats/nats.conf');
    expect(shipped).toMatch(/^ +sync_interval: always$/m);
    const members: { name: string; port: number; monitorPort: number; routePort: number }[] = [];
    for (const number of [1, 2, 3])
      members.push({
        name: `nats-${number}`,
        port: await freePort(random),
        monitorPort: await freePort(random),
        routePort: await freePort(random),
      });
    const nodes = members.map((member) => {
      const filled: Record<string, string> = { ...passwords, NATS_NAME: member.name };
      members.forEach(({ routePort }, index) => {
        filled[`NATS_ROUTE_${index + 1}`] =
          `nats-route://route:${passwords.ROUTE_PASSWORD}@127.0.0.1:${routePort}`;
      });
      const configuration = change(shipped)
        .replace('0.0.0.0:4222', `127.0.0.1:${member.port}`)
        .replace('0.0.0.0:8222', `127.0.0.1:${member.monitorPort}`)
        .replace('0.0.0.0:6222', `127.0.0.1:${member.routePort}`)
        .replace('"/data"', `"${join(home, member.name)}"`)
        .replaceAll(/\$([A-Z]+(?:_[A-Z0-9]+)+)\b/g, (whole, name: string) => `"${filled[name] ?? whole}"`);
      return createNatsNode({ ...member, folder: home, configuration });
    });
    onTestFinished(async () => {
      await Promise.all(nodes.map((node) => node.kill()));
    });
    await Promise.all(nodes.map((node) => node.start()));
    return nodes;
  }

  async function command(words: string[], environment: Record<string, string>) {
    const printed: string[] = [];
    const print = (text: string) => void printed.push(text);
    const never = new Promise<string>(() => undefined);
    const code = await runCommandLine({ out: print, err: print, environment, stopped: never }, words);
    return { code, printed: printed.join('\n') };
  }

  test('its two logins suffice: one provisions, the other serves, and cannot do more', async () => {
    const nodes = await cluster();
    const nats = { SVC_RELAY_NATS: nodes.map(({ url }) => url).join(',') };
    const as = (user: 'relay' | 'provision') => ({
      ...nats,
      SVC_RELAY_NATS_USER: user,
      SVC_RELAY_NATS_PASSWORD: user === 'relay' ? passwords.RELAY_PASSWORD : passwords.PROVISION_PASSWORD,
    });
    const provisioned = await command(
      ['provision', '--replicas', '3', '--shards', '2', '--max-shard-bytes', '64'],
      as('provision'),
    );
    expect(provisioned).toMatchObject({ code: 0 });
    const login = await connect({
      servers: nodes.map(({ url }) => url),
      user: 'relay',
      pass: passwords.RELAY_PASSWORD,
    });
    onTestFinished(() => login.close());
    const ask = (order: string, payload: string) =>
      login.request(`$JS.API.STREAM.${order}.svc-relay-shard-00`, payload, { timeout: WAIT_MS });
    for (const order of ['DELETE', 'UPDATE', 'CREATE', 'SNAPSHOT'])
      await expect(ask(order, '{}')).rejects.toThrow(/permission/i);
    const own = await ask('INFO', '');
    expect(own.json()).toMatchObject({ config: { num_replicas: 3 } });

    const home = temporaryFolder();
    const announcedIn = join(home, 'relay.json');
    const relay = startServer({
      command: [relayProgram, 'serve', '--port', '0', '--port-file', announcedIn],
      environment: { HOME: home, ...as('relay') },
      folder: home,
      announcedIn,
      output: join(home, 'relay.log'),
    });
    onTestFinished(() => relay.kill());
    const url = `http://127.0.0.1:${(await relay.ready).port}`;
    const made = await fetch(`${url}/new`, { method: 'POST' });
    expect(made.status).toBe(201);
    const { writeUrl, readUrl, readKey } = (await made.json()) as Record<string, string>;
    // A small one, and one larger than the server's message limit.
    for (const size of [10, 3 * 1024 * 1024]) {
      const body = JSON.stringify({ text: 'x'.repeat(size) });
      const posted = await fetch(writeUrl ?? '', { method: 'POST', body });
      expect([size, posted.status]).toEqual([size, 200]);
    }
    const authorization = `Bearer ${readKey}`;
    const abort = new AbortController();
    const stream = await fetch(`${readUrl}?since=oldest&raw=1&subscriber=one`, {
      headers: { accept: 'text/event-stream', authorization },
      signal: abort.signal,
    });
    let received = '';
    for await (const chunk of stream.body ?? []) {
      received += Buffer.from(chunk).toString('latin1');
      if (received.split('"bodyB"').length === 3 && received.endsWith('}\n\n')) break;
    }
    abort.abort();
    expect(received.length).toBeGreaterThan(4 * 1024 * 1024);
    const status = await fetch(`${readUrl}/status`, { headers: { authorization } });
    expect(status.status).toBe(200);
    // It asks every server whether it syncs, and logs no warning.
    expect(readFileSync(join(home, 'relay.log'), 'utf8')).not.toMatch(/permission|authorization|sync/i);
  });

  test('servers of a cluster that do not sync every write are named in the log', async () => {
    const nodes = await cluster((text) => text.replace('  sync_interval: always\n', ''));
    const environment = {
      SVC_RELAY_NATS: nodes.map(({ url }) => url).join(','),
      SVC_RELAY_NATS_USER: 'provision',
      SVC_RELAY_NATS_PASSWORD: passwords.PROVISION_PASSWORD,
    };
    const words = ['provision', '--shards', '1', '--max-shard-bytes', '64'];
    expect(await command(words, environment)).toMatchObject({ code: 0 });
    const home = temporaryFolder();
    const announcedIn = join(home, 'relay.json');
    const relay = startServer({
      command: [relayProgram, 'serve', '--port', '0', '--port-file', announcedIn],
      environment: {
        HOME: home,
        ...environment,
        SVC_RELAY_NATS_USER: 'relay',
        SVC_RELAY_NATS_PASSWORD: passwords.RELAY_PASSWORD,
      },
      folder: home,
      announcedIn,
      output: join(home, 'relay.log'),
    });
    onTestFinished(() => relay.kill());
    await relay.ready;
    const log = (): string => readFileSync(join(home, 'relay.log'), 'utf8');
    await expect.poll(log).toContain('sync_interval: always is not set on nats-');
    for (const { name } of nodes) expect(log()).toContain(name);
  });

  test('the copy for Kubernetes is the same, word for word', () => {
    const map = documents('kubernetes/nats.yaml').find(({ kind }) => kind === 'ConfigMap');
    expect(map?.['data']).toEqual({ 'nats.conf': read('nats/nats.conf') });
  });
});

describe('settings', () => {
  const known = new Set([
    ...Object.values({ ...natsSettings, ...serveSettings, ...provisionSettings }).map(({ flag }) =>
      variableOf(flag),
    ),
    'SVC_RELAY_NATS_USER',
    'SVC_RELAY_NATS_PASSWORD',
    'SVC_RELAY_NATS_TOKEN',
  ]);

  test.each([
    'Containerfile',
    'compose.yaml',
    'kubernetes/relay.yaml',
    'systemd/svc-relay.service',
    'systemd/svc-relay.env.example',
  ])('%s names only variables that the relay reads', (name) => {
    const named = [...read(name).matchAll(/\bSVC_RELAY_[A-Z_]+\b/g)].map(([variable]) => variable);
    expect(named.filter((variable) => !known.has(variable))).toEqual([]);
  });

  test('every variable of nats.conf is filled by compose and by the StatefulSet', () => {
    const wanted = [...read('nats/nats.conf').matchAll(/(?<!["$.\w])\$([A-Z]+(?:_[A-Z0-9]+)+)\b/g)].map(
      ([, name = '']) => name,
    );
    expect(new Set(wanted).size).toBe(7);
    const { services } = documents('compose.yaml')[0] as {
      services: Record<string, { environment?: Record<string, string>; command?: string[] }>;
    };
    for (const name of ['nats-1', 'nats-2', 'nats-3'])
      expect(Object.keys(services[name]?.environment ?? {}).toSorted()).toEqual(
        [...new Set(wanted)].toSorted(),
      );
    const set = documents('kubernetes/nats.yaml').find(({ kind }) => kind === 'StatefulSet');
    const text = JSON.stringify(set);
    for (const name of wanted) expect(text).toContain(`"name":"${name}"`);
  });

  test('the port is the relay’s own in every file', () => {
    const port = String(serveSettings.port.fallback);
    expect(read('Containerfile')).toContain(`EXPOSE ${port}`);
    expect(read('Caddyfile')).toContain(`relay-1:${port} relay-2:${port}`);
    expect(read('systemd/svc-relay.env.example')).toContain(`SVC_RELAY_PORT=${port}`);
    expect(read('kubernetes/relay.yaml')).toContain(`containerPort: ${port}`);
    expect(read('observability/prometheus.yml')).toContain(`127.0.0.1:${port}`);
  });
});

test('every relay process has a volume of its own for its spill', () => {
  const { services } = documents('compose.yaml')[0] as {
    services: Record<string, { environment?: Record<string, string>; volumes?: string[] }>;
  };
  const relays = Object.values(services).filter(({ environment }) => environment?.['SVC_RELAY_SPILL']);
  const mounted = relays.map(({ environment, volumes = [] }) => {
    const [volume = '', at = ''] = volumes[0]?.split(':') ?? [];
    expect(environment?.['SVC_RELAY_SPILL']).toBe(join(at, 'spill'));
    expect(read('Containerfile')).toContain(`install -d -o node -g node -m 0700 ${at}\n`);
    return volume;
  });
  expect(mounted).toEqual(['relay-1', 'relay-2']);
  const kubernetes = documents('kubernetes/relay.yaml');
  const state = '/var/lib/svc-relay';
  expect(kubernetes.find(({ kind }) => kind === 'ConfigMap')).toMatchObject({
    data: { SVC_RELAY_SPILL: join(state, 'spill') },
  });
  expect(kubernetes.find(({ kind }) => kind === 'StatefulSet')?.['spec']).toMatchObject({
    template: {
      spec: {
        containers: [{ volumeMounts: expect.arrayContaining([{ name: 'spill', mountPath: state }]) }],
      },
    },
    volumeClaimTemplates: [{ metadata: { name: 'spill' } }],
  });
  expect(read('systemd/svc-relay.service')).toContain(`StateDirectory=${basename(state)}\n`);
  expect(read('systemd/svc-relay.env.example')).toContain(`SVC_RELAY_SPILL=${state}/spill\n`);
});

describe('Kubernetes', () => {
  const all = ['namespace', 'nats', 'relay'].flatMap((name) => documents(`kubernetes/${name}.yaml`));
  const of = (kind: string) => all.filter((document) => document['kind'] === kind);

  test('every name that an object refers to exists', () => {
    const pods = [...of('StatefulSet'), ...of('Job')].map(
      ({ spec }) =>
        (spec as { template: { metadata: { labels: Record<string, string> } } }).template.metadata.labels,
    );
    const selected = JSON.stringify([...of('Service'), ...of('PodDisruptionBudget'), ...of('NetworkPolicy')]);
    for (const [, label = '', value = ''] of selected.matchAll(/"(app|uses-nats)":"([^"]+)"/g))
      expect(pods.some((labels) => labels[label] === value)).toBe(true);
    expect(of('PodDisruptionBudget')).toHaveLength(2);
    expect(of('NetworkPolicy')).toHaveLength(2);
    expect(documents('kubernetes/kustomization.yaml')[0]?.['resources']).toEqual([
      'namespace.yaml',
      'nats.yaml',
      'relay.yaml',
    ]);
  });

  test('nothing runs as root, only the volumes are writable, and every pod meets the policy of the namespace', () => {
    for (const { spec } of [...of('StatefulSet'), ...of('Job')]) {
      const pod = (spec as { template: { spec: Record<string, unknown> } }).template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const container of pod['containers'] as object[])
        expect(container).toMatchObject({
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        });
    }
  });
});

describe('observability', () => {
  const panels = () =>
    JSON.parse(read('observability/grafana-dashboard.json')).panels as {
      id: number;
      targets: { expr: string }[];
    }[];

  test('promtool accepts the rules, the configuration and every panel', () => {
    expect(promtoolComplaint('check', 'rules', join(folder, 'observability/alerts.yml'))).toBeNull();
    expect(promtoolComplaint('check', 'config', join(folder, 'observability/prometheus.yml'))).toBeNull();
    const expressions = panels().flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = expressions.map((expr, index) => ({
      record: `panel:expression:${index}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    }));
    // JSON is YAML.
    const file = join(temporaryFolder(), 'panels.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    expect(promtoolComplaint('check', 'rules', file)).toBeNull();
    expect(new Set(panels().map(({ id }) => id)).size).toBe(panels().length);
  });

  test('the relay exposes every metric that is used', async () => {
    const world = await relayWorld();
    const relay = await world.startRelay('--spill', temporaryFolder());
    const { body } = await send(`${relay.url}/metrics`, { method: 'GET' });
    const exposed = new Set([...body.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
    const named = ['observability/alerts.yml', 'observability/grafana-dashboard.json']
      .flatMap((name) =>
        [...read(name).matchAll(/\b(?:svc_relay|process|nodejs)_\w+/g)].map(([metric]) => metric),
      )
      .map((name) => name.replace(/^(svc_relay_post_seconds)_(?:bucket|sum|count)$/, '$1'));
    expect([...new Set(named)].filter((name) => !exposed.has(name))).toEqual([]);
    expect(new Set(named).size).toBeGreaterThan(12);
    expect(named).toContain('svc_relay_spilled_waiting');
  });
});
