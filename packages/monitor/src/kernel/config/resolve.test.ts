import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../features/configure.ts';
import { unknownDeployPolicy } from '../../features/deploy/policy.ts';
import type { Layer } from './field.ts';
import { formatProblem } from './problems.ts';
import type { ConfigFile } from './resolved-value.ts';

const file = (layer: Layer, data: unknown, reads: readonly Layer[] = [layer]): ConfigFile => ({
  path: `${layer}.json`,
  layers: layer === 'global' ? ['global', 'secrets'] : [layer],
  reads,
  data,
  lineOf: () => undefined,
});
const project = (svc: unknown) => resolveConfig([file('project', { svc })], {});

describe('false and null mean what they say', () => {
  test('skipDeployVerification: false is false', () => {
    const { config } = project({ deploy: { 'acme/web': { skipDeployVerification: false } } });
    expect(config?.svc.deploy['acme/web']).toMatchObject({ skipDeployVerification: false, timeoutSec: 1800 });
  });

  test('a null in stateMap skips, and does not become the default', () => {
    expect(project({ tracker: { stateMap: { research: null } } }).config?.svc.tracker.stateMap).toMatchObject(
      {
        research: null,
        planning: 'In Progress',
      },
    );
  });
});

describe('groups keyed by a name', () => {
  test('svc.deploy is keyed by owner/repo, and a repository has the defaults', () => {
    expect(project({ deploy: { 'acme/web': {} } }).config?.svc.deploy).toEqual({
      'acme/web': {
        timeoutSec: 1800,
        productionEnvironment: 'production',
        stagingEnvironment: 'staging',
        skipDeployVerification: true,
        acceptDescendants: true,
      },
    });
    const { config, problems } = project({ deploy: { web: { timeoutSec: 60 } } });
    expect(config).toBeUndefined();
    expect(problems[0]).toMatchObject({ code: 'wrong-name', key: 'svc.deploy.web' });
  });

  test('the name of a repository may contain dots', () => {
    const { applied: policies, problems } = project({
      deploy: { 'acme/next.js': { skipDeployVerification: false } },
    });
    expect(problems).toEqual([]);
    expect(policies.deploy).toMatchObject({ 'acme/next.js': { skipDeployVerification: false } });
  });

  test('a repository with the ending of a clone address is refused, because it would match nothing', () => {
    const { config, problems, applied: policies } = project({ deploy: { 'acme/web.git': {} } });
    expect(config).toBeUndefined();
    expect(problems[0]).toMatchObject({ code: 'wrong-name', remedy: 'Write "acme/web".' });
    expect(policies.others).toBe('unknown');
    expect(policies.deploy).toMatchObject({ 'acme/web': { skipDeployVerification: null } });
  });

  test('an entry that is refused for its name requires proof if it says so, and skips nothing', () => {
    const policiesWith = (skipDeployVerification: boolean) =>
      project({
        deploy: { 'acme/web.git': { skipDeployVerification, productionEnvironment: 'live', timeoutSec: '' } },
      }).applied;
    expect(policiesWith(false).deploy).toEqual({
      'acme/web': {
        ...unknownDeployPolicy,
        skipDeployVerification: false,
        productionEnvironment: 'live',
      },
    });
    expect(policiesWith(true)).toMatchObject({
      deploy: { 'acme/web': { skipDeployVerification: null } },
      relaxes: [],
    });
  });

  test('two spellings of one repository: the stricter entry counts, and nothing is relaxed', () => {
    const lax = { skipDeployVerification: true };
    const { applied: policies } = project({
      deploy: { 'ACME/Web': lax, 'acme/web': { skipDeployVerification: false } },
    });
    expect(policies).toMatchObject({
      deploy: { 'acme/web': { skipDeployVerification: false } },
      relaxes: [],
    });
    expect(project({ deploy: { 'acme/web': lax } }).applied.relaxes).toEqual(['acme/web']);
    expect(project({ deploy: { 'acme/web': {} } }).applied.relaxes).toEqual([]);
  });

  test('what a valid file skips counts, whatever is wrong with the other files', () => {
    const own = file('project', { svc: { deploy: { 'acme/web': { skipDeployVerification: true } } } });
    const { config, applied: policies } = resolveConfig([own, file('global', { svc: [] })], {});
    expect(config).toBeUndefined();
    expect(policies).toMatchObject({
      deploy: { 'acme/web': { skipDeployVerification: true } },
      relaxes: ['acme/web'],
    });
  });

  test('a file with an error may require a proof, but what it skips does not count', () => {
    const { applied: policies } = project({
      deploy: {
        'acme/web': { skipDeployVerification: false },
        'acme/api': { skipDeployVerification: true },
        'acme/docs': { timeoutSec: 'soon' },
      },
    });
    expect(policies.deploy).toMatchObject({
      'acme/web': { skipDeployVerification: false },
      'acme/docs': { skipDeployVerification: null },
    });
    expect(policies.deploy).not.toHaveProperty('acme/api');
  });

  test('the providers are provider-a, provider-b and provider-c', () => {
    const providers = Object.fromEntries(
      ['provider-a', 'provider-b', 'provider-c'].map((name) => [name, { apiKeyEnv: 'KEY' }]),
    );
    expect(project({ ai: { providers } }).config?.svc.ai.providers).toEqual(providers);
    const { config, problems } = project({ ai: { providers: { 'provider-d': { apiKeyEnv: 'KEY' } } } });
    expect(config).toBeUndefined();
    expect(problems[0]).toMatchObject({ code: 'wrong-name', key: 'svc.ai.providers.provider-d' });
  });
});

test('otel is read from the secrets file as well as from the global one', () => {
  const otel = (prometheusUrl: string) => ({ otel: { enabled: true, prometheusUrl } });
  const secrets = file('secrets', otel('http://secrets.example'));
  expect(resolveConfig([secrets], {}).config?.otel).toMatchObject({
    enabled: true,
    prometheusUrl: 'http://secrets.example',
  });
  const both = resolveConfig([file('global', otel('http://global.example'), ['global']), secrets], {});
  expect(both.config?.otel.prometheusUrl).toBe('http://secrets.example');
});

test('a deprecated name in the secrets file goes before the current one in the global file', () => {
  const secrets = file('secrets', { otel: { prometheus: 'http://secrets.example' } });
  const global = (otel: object) => file('global', { otel }, ['global']);
  const used = (...files: Parameters<typeof resolveConfig>[0]) =>
    resolveConfig(files, {}).config?.otel.prometheusUrl;
  expect(used(global({ prometheusUrl: 'http://global.example' }), secrets)).toBe('http://secrets.example');
  const both = { prometheus: 'http://old.example', prometheusUrl: 'http://current.example' };
  expect(used(file('secrets', { otel: both }))).toBe('http://current.example');
});

describe('secrets', () => {
  const token = `lin_api_${'a'.repeat(40)}`;

  test('a tracker token in the project file is an error with the remedy', () => {
    const { config, problems } = project({ tracker: { apiToken: token } });
    expect(config).toBeUndefined();
    const problem = problems.find(({ code }) => code === 'secret-in-project-file');
    expect(problem?.remedy).toContain('svc config set --layer secrets svc.tracker.apiToken -');
    expect(JSON.stringify(problems)).not.toContain(token);
  });

  test.each([
    ['by its shape, in any key', { repository: { name: `ghp_${'A1'.repeat(18)}` } }],
    ['by the name of its key, even an unknown one', { custom: { password: 'hunter2' } }],
    ['in a list', { worktree: { setup: [`sk-${'a1'.repeat(20)}`] } }],
    ['where a variable name belongs', { monitor: { github: { webhookSecretEnv: 'a1'.repeat(32) } } }],
  ])('is found %s', (_, svc) => {
    expect(project(svc).problems.map(({ code }) => code)).toContain('secret-in-project-file');
  });

  test('the name of a variable that holds a secret is not a secret', () => {
    expect(project({ monitor: { github: { webhookSecretEnv: 'MY_SECRET' } } }).problems).toEqual([]);
  });

  test.each([
    'MY_SECRET',
    'HOOK_HMAC',
    'my_hook',
    '_x9',
    'HOMES',
    'MY_PATH',
    'SSH_HOOK',
    'SVC_HOOK_HMAC',
    'SVC_WEBHOOK_SECRET',
  ])('%s may name a webhook secret', (webhookSecretEnv) => {
    for (const feed of ['github', 'linear'])
      expect(project({ monitor: { [feed]: { webhookSecretEnv } } }).problems).toEqual([]);
  });

  test.each([
    'LANG',
    'LC_ALL',
    'HOME',
    'PATH',
    'USER',
    'HOSTNAME',
    'OLDPWD',
    'SSH_CONNECTION',
    'https_proxy',
    'SVC_DATA_DIR',
    'MY-HOOK',
    '9_HOOK',
    'HOOK ',
    '',
  ])('%j cannot: it is not a name, or every shell sets it', (webhookSecretEnv) => {
    for (const feed of ['github', 'linear']) {
      const { config, problems } = project({ monitor: { [feed]: { webhookSecretEnv } } });
      expect(config).toBeUndefined();
      expect(problems).toMatchObject([
        {
          severity: 'error',
          key: `svc.monitor.${feed}.webhookSecretEnv`,
          message: expect.stringContaining('the name of an environment variable that holds a secret'),
        },
      ]);
    }
  });

  test('secrets in the global file count only if the project has no secrets file', () => {
    const global = { svc: { tracker: { apiToken: 'from-global' } } };
    const alone = resolveConfig([file('global', global, ['global', 'secrets'])], {});
    expect(alone.config?.svc.tracker.apiToken).toBe('from-global');
    const beside = resolveConfig([file('secrets', {}), file('global', global, ['global'])], {});
    expect(beside.config?.svc.tracker.apiToken).toBeUndefined();
    expect(beside.problems).toEqual([]);
  });
});

test('otel in the global file counts beside a project secrets file, which wins for the keys that it sets', () => {
  const global = file('global', { otel: { enabled: true, lokiUrl: 'http://global.example' } }, ['global']);
  const own = file('secrets', { otel: { lokiUrl: 'http://own.example' } });
  const { config } = resolveConfig([own, global], {});
  expect(config?.otel).toMatchObject({ enabled: true, lokiUrl: 'http://own.example' });
});

describe('unknown and misplaced keys are reported', () => {
  test('an unknown key, with the likely one', () => {
    const { config, problems } = project({ orchestration: { maxParalel: 4 } });
    expect(config?.svc.orchestration.maxParallel).toBe(3);
    expect(problems.map(formatProblem)).toEqual([
      'project.json: svc.orchestration.maxParalel: unknown key. Did you mean maxParallel?',
    ]);
  });

  test('a key in the wrong file, with the file it belongs in', () => {
    const { problems } = resolveConfig([file('project', { otel: { enabled: true } })], {});
    expect(problems[0]).toMatchObject({ severity: 'ignored', code: 'wrong-file' });
  });

  test('$schema is not reported as unknown', () => {
    expect(resolveConfig([file('project', { $schema: './x.json' })], {}).problems).toEqual([]);
  });
});

describe('vendor names', () => {
  test('svc.linear is svc.tracker, and provider names become neutral', () => {
    const { config, problems } = project({
      linear: { teamKey: 'ABC' },
      ai: { defaultProvider: 'openai', providers: { anthropic: { apiKeyEnv: 'A' } } },
      feedback: { githubRepo: 'acme/inbox' },
    });
    expect(problems).toEqual([]);
    expect(config?.svc.tracker.teamKey).toBe('ABC');
    expect(config?.svc.ai).toMatchObject({
      defaultProvider: 'provider-b',
      providers: { 'provider-a': { apiKeyEnv: 'A' } },
    });
    expect(config?.svc.feedback.codehostRepo).toBe('acme/inbox');
  });

  test('the neutral name wins when both are set, with a warning', () => {
    const { values, problems } = project({ linear: { teamKey: 'OLD' }, tracker: { teamKey: 'NEW' } });
    expect(values.find(({ key }) => key === 'svc.tracker.teamKey')?.value).toBe('NEW');
    expect(problems[0]).toMatchObject({ code: 'given-twice', key: 'svc.linear.teamKey' });
  });
});

describe('values that belong together', () => {
  test('teamKey must equal ticketPrefix', () => {
    const { problems } = project({ tracker: { teamKey: 'ABC' }, project: { ticketPrefix: 'XYZ' } });
    expect(problems[0]).toMatchObject({
      severity: 'error',
      code: 'contradiction',
      key: 'svc.tracker.teamKey',
    });
  });

  test('a provider needs the name of its key variable', () => {
    const { problems } = project({ ai: { providers: { 'provider-a': {} } } });
    expect(problems[0]).toMatchObject({ code: 'incomplete', key: 'svc.ai.providers.provider-a.apiKeyEnv' });
  });

  test('the briefing needs gateway and key', () => {
    const { problems } = resolveConfig([file('secrets', { ai: { gateway: 'https://g.example' } })], {});
    expect(problems[0]).toMatchObject({ code: 'incomplete', key: 'ai.gateway' });
    const reverse = resolveConfig([file('secrets', { ai: { apiKey: 'words' } })], {});
    expect(reverse.problems[0]).toMatchObject({ code: 'incomplete', key: 'ai.apiKey' });
  });

  test.each([['from'], ['to']])('quiet hours with only %s are an error', (name) => {
    const quietHours = { [name]: '22:00' };
    const { config, problems } = resolveConfig([file('global', { svc: { notify: { quietHours } } })], {});
    expect(config).toBeUndefined();
    expect(problems[0]).toMatchObject({ code: 'incomplete', key: `svc.notify.quietHours.${name}` });
  });

  test('search needs its key: an empty one is an error, a misspelt one is reported', () => {
    const given = (search: object) => resolveConfig([file('secrets', { svc: { search } })], {});
    expect(given({ apiKey: 'words' }).problems).toEqual([]);
    // As the other integrations: none of its fields is the integration that is not used.
    expect(given({}).problems).toEqual([]);
    expect(given({ apiKey: '' }).problems[0]).toMatchObject({ severity: 'error', key: 'svc.search.apiKey' });
    expect(given({ apikey: 'words' }).problems[0]?.remedy).toBe('Did you mean apiKey?');
  });

  test.each([
    ['errorTracking', ['org', 'project', 'authToken']],
    ['analytics', ['apiKey', 'projectId']],
  ])('%s needs all of %j, or none', (name, keys) => {
    const given = (present: string[]) =>
      resolveConfig(
        [file('secrets', { svc: { [name]: Object.fromEntries(present.map((key) => [key, 'words'])) } })],
        {},
      );
    expect(given([]).problems).toEqual([]);
    expect(given(keys).problems).toEqual([]);
    for (const missing of keys) {
      const { config, problems } = given(keys.filter((key) => key !== missing));
      expect(config).toBeUndefined();
      expect(problems[0]?.code).toBe('incomplete');
      expect(problems[0]?.message).toContain(`svc.${name}.${missing}`);
    }
  });
});

test('any JSON document is a configuration or an error with its location', () => {
  const names = fc.constantFrom(
    'svc',
    'tracker',
    'linear',
    'stateMap',
    'deploy',
    'acme/web',
    'otel',
    'prometheus',
    'ai',
    'providers',
    'monitor',
    'github',
    'smeeChannel',
    '__proto__',
    'constructor',
    'enabled',
    '',
  );
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.dictionary(names, tie('any'), { maxKeys: 5 }),
      fc.array(tie('any'), { maxLength: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, fc.constantFrom<Layer>('project', 'secrets', 'global'), (data, layer) => {
      const { config, problems } = resolveConfig([file(layer, JSON.parse(JSON.stringify(data)))], {});
      const isError = problems.some(({ severity }) => severity === 'error');
      const elsewhere = problems.filter((problem) => problem.file !== `${layer}.json`);
      expect([config === undefined, elsewhere]).toEqual([isError, []]);
    }),
    { numRuns: Number(process.env['DOCUMENTS'] ?? 2_000) },
  );
});

test('what members of a team may do is allowed by id, machine or person; a name alone is refused with the fix', () => {
  const id = 'x'.repeat(22);
  const allow = { 'person:kim': [], 'machine:laptop': [], [`id:${id}`]: [], [id]: [], '*': [] };
  const read = (names: object) => resolveConfig([file('global', { svc: { team: { allow: names } } })], {});
  expect(read(allow).problems).toEqual([]);
  expect(read({ ...allow, kim: ['send'], 'kim; rm': [] }).problems).toMatchObject([
    {
      severity: 'error',
      code: 'wrong-name',
      key: 'svc.team.allow',
      message: '"kim" is a person or a machine: it allows nothing.',
      remedy: 'Write person:kim, machine:kim, or id:<id> with an id of: svc team members',
    },
    { code: 'wrong-name', remedy: expect.stringContaining('person:<name>') },
  ]);
});
