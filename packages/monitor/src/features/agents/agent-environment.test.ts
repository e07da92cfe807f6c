import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentEnvironment, formatAttributes, resourceAttributes } from './agent-environment.ts';

const telemetry = {
  project: 'web',
  hostname: 'mini.local',
  branch: 'kim/eng-12-login',
  ticket: 'ENG-7',
  ticketPrefixes: ['ENG'],
  orchestration: 'spring clean',
};
const inherited = {
  PATH: '/bin',
  HOME: '/home/kim',
  LANG: 'C',
  GH_TOKEN: 'gh',
  ANTHROPIC_API_KEY: 'key',
  SVC_WEBHOOK_SECRET: 'secret',
  SVC_RELAY_READ_KEY: 'secret',
  OUR_HOOK: 'secret',
  TRACKER_TOKEN: 'secret',
  EDITOR: 'vi',
  EMPTY: '',
};
const given = {
  inherited,
  agentEnv: ['GH_TOKEN', 'EMPTY', 'NOT_SET'],
  secretNames: ['OUR_HOOK', 'TRACKER_TOKEN'],
  locations: {},
  orchestrator: 'run-1',
  ticket: 'ENG-7',
  signalFile: '/runs/run-1/workers/ENG-7.json',
  inboxFile: '/runs/run-1/workers/inbox/ENG-7.jsonl',
  telemetry,
};

test('the standard ones, those that are passed on, and its identity', () => {
  expect(agentEnvironment(given)).toEqual({
    environment: {
      PATH: '/bin',
      HOME: '/home/kim',
      LANG: 'C',
      GH_TOKEN: 'gh',
      EMPTY: '',
      SVC_ORCHESTRATOR: 'run-1',
      SVC_TICKET: 'ENG-7',
      SVC_SIGNAL_FILE: '/runs/run-1/workers/ENG-7.json',
      SVC_INBOX_FILE: '/runs/run-1/workers/inbox/ENG-7.jsonl',
      SVC_AUTONOMOUS: '1',
      OTEL_RESOURCE_ATTRIBUTES:
        'project=web,hostname=mini.local,git.branch=kim%2Feng-12-login,ticket.key=ENG-12,svc.orchestration=spring%20clean',
    },
    refused: [],
  });
});

test('never secrets, even if requested', () => {
  const agentEnv = [
    'SVC_WEBHOOK_SECRET',
    'SVC_RELAY_READ_KEY',
    'OUR_HOOK',
    'TRACKER_TOKEN',
    'not a name',
    'EDITOR',
  ];
  const { environment, refused } = agentEnvironment({ ...given, agentEnv });
  expect(refused).toEqual([
    'SVC_WEBHOOK_SECRET',
    'SVC_RELAY_READ_KEY',
    'OUR_HOOK',
    'TRACKER_TOKEN',
    'not a name',
  ]);
  expect(Object.values(environment)).not.toContain('secret');
  expect(environment).toMatchObject({ EDITOR: 'vi' });
});

test('its identity cannot be set from outside', () => {
  const { environment } = agentEnvironment({
    ...given,
    inherited: { ...inherited, SVC_TICKET: 'OTHER', OTEL_RESOURCE_ATTRIBUTES: 'x=y' },
    agentEnv: ['SVC_TICKET', 'OTEL_RESOURCE_ATTRIBUTES'],
  });
  expect(environment['SVC_TICKET']).toBe('ENG-7');
  expect(environment['OTEL_RESOURCE_ATTRIBUTES']).toMatch(/^project=web,/);
});

test('the locations of svc files are the daemon’s, whatever the project names', () => {
  const { environment } = agentEnvironment({
    ...given,
    agentEnv: [],
    inherited: { ...inherited, SVC_DATA_DIR: 'data', SVC_VERSION_FILE: '/v' },
    locations: { SVC_DATA_DIR: '/srv/data', SVC_MONITOR_PORT: '7500' },
  });
  expect(environment).toMatchObject({ SVC_DATA_DIR: '/srv/data', SVC_MONITOR_PORT: '7500' });
  expect(environment).not.toHaveProperty('SVC_VERSION_FILE');
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://otel.example:4317'],
  ['OTEL_METRICS_EXPORTER', 'prometheus'],
  ['OTEL_EXPORTER_OTLP_CLIENT_KEY', '/home/kim/key.pem'],
  ['CLAUDE_CODE_ENABLE_TELEMETRY', '1'],
  ['SSH_AUTH_SOCK', '/run/agent'],
  ['HTTP_PROXY', 'http://proxy.example:3128'],
  ['https_proxy', 'proxy.example:3128'],
  ['ALL_PROXY', 'socks5h://proxy.example'],
  ['NO_PROXY', 'localhost,.example'],
  ['no_proxy', '10.0.0.0/8'],
])('passed on by default: %s', (name, value) => {
  const { environment } = agentEnvironment({ ...given, inherited: { [name]: value }, agentEnv: [] });
  expect(environment).toMatchObject({ [name]: value });
});

test.each([
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer key'],
  ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'x-api-key=key'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://kim:key@otel.example'],
  ['HTTPS_PROXY', 'http://kim:key@proxy.example:3128'],
  ['https_proxy', 'kim:key@proxy.example'],
])('with a key in it only if the project names it: %s=%s', (name, value) => {
  const of = (agentEnv: string[]) => agentEnvironment({ ...given, inherited: { [name]: value }, agentEnv });
  expect(of([]).environment).not.toHaveProperty(name);
  expect(of([name]).environment).toMatchObject({ [name]: value });
});

test('a variable that holds a secret is never passed on, whatever it is called', () => {
  const { environment } = agentEnvironment({
    ...given,
    inherited: { OTEL_HOOK: 'secret', HTTP_PROXY: 'secret' },
    secretNames: ['OTEL_HOOK', 'HTTP_PROXY'],
    agentEnv: ['OTEL_HOOK'],
    locations: {},
  });
  expect(Object.values(environment)).not.toContain('secret');
});

const facts = {
  project: 'web',
  hostname: 'mini.local',
  branch: 'kim/eng-12-login',
  ticket: 'ENG-7',
  ticketPrefixes: ['ENG'],
  orchestration: 'spring clean',
};

test('project, hostname, branch, ticket key and orchestration, by the names of the specification', () => {
  expect(resourceAttributes(facts)).toEqual({
    project: 'web',
    hostname: 'mini.local',
    'git.branch': 'kim/eng-12-login',
    'ticket.key': 'ENG-12',
    'svc.orchestration': 'spring clean',
  });
  expect(formatAttributes(resourceAttributes(facts))).toBe(
    'project=web,hostname=mini.local,git.branch=kim%2Feng-12-login,ticket.key=ENG-12,svc.orchestration=spring%20clean',
  );
});

test.each([
  ['the one of the branch', 'kim/eng-12-login', 'ENG-7', 'ENG-12'],
  ['else the current ticket of the worktree', 'main', 'ENG-7', 'ENG-7'],
  ['a detached head has the current ticket', null, 'ENG-7', 'ENG-7'],
  ['another team’s ticket does not count', 'kim/ops-3', 'ENG-7', 'ENG-7'],
  ['none at all', 'main', null, undefined],
])('the ticket key is %s', (_, branch, ticket, expected) => {
  expect(resourceAttributes({ ...facts, branch, ticket })['ticket.key']).toBe(expected);
});

test('unknown values have no attribute', () => {
  const none = { project: null, hostname: 'mini', branch: null, ticket: null, orchestration: null };
  expect(resourceAttributes({ ...none, ticketPrefixes: [] })).toEqual({ hostname: 'mini' });
  expect(resourceAttributes({ ...none, project: '', ticketPrefixes: [] })).toEqual({ hostname: 'mini' });
});

test('any value is decoded unchanged', () => {
  // The characters that need no encoding in the W3C's baggage format.
  const whole = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }), (project) => {
      const text = formatAttributes(resourceAttributes({ ...facts, project }));
      const [first = ''] = text.split(',');
      expect(first.split('=')).toHaveLength(2);
      expect(first.split('=')[1]).toMatch(whole);
      const pairs = text.split(',').map((pair) => pair.split('=').map(decodeURIComponent));
      expect(Object.fromEntries(pairs)).toEqual(resourceAttributes({ ...facts, project }));
    }),
  );
});
