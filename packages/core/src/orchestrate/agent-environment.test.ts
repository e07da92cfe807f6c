import { expect, test } from 'vitest';
import { agentEnvironment } from './agent-environment.ts';

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
  orchestrator: 'run-1',
  ticket: 'ENG-7',
  signalFile: '/runs/run-1/workers/ENG-7.json',
  inboxFile: '/runs/run-1/workers/inbox/ENG-7.jsonl',
  telemetry,
};

test('the ordinary ones, those that are let through, and who it is', () => {
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

test('secrets never, also when they are asked for', () => {
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

test('who it is cannot be set from outside', () => {
  const { environment } = agentEnvironment({
    ...given,
    inherited: { ...inherited, SVC_TICKET: 'OTHER', OTEL_RESOURCE_ATTRIBUTES: 'x=y' },
    agentEnv: ['SVC_TICKET', 'OTEL_RESOURCE_ATTRIBUTES'],
  });
  expect(environment['SVC_TICKET']).toBe('ENG-7');
  expect(environment['OTEL_RESOURCE_ATTRIBUTES']).toMatch(/^project=web,/);
});
