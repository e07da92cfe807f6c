import { expect, test } from 'vitest';
import { Config } from '../config.ts';
import { readKeyOf, readKeyVariables } from './io/provision-channel.ts';

const byDefault = Config.parse({});
const named = Config.parse({ svc: { monitor: { github: { relayReadKeyEnv: 'MINE' } } } });

test('the variables in the configuration, each once', () => {
  expect(readKeyVariables([byDefault, byDefault])).toEqual({
    codehost: ['SVC_RELAY_READ_KEY'],
    tracker: ['SVC_TRACKER_RELAY_READ_KEY'],
  });
  expect(readKeyVariables([named]).codehost).toEqual(['MINE']);
  expect(readKeyVariables([])).toEqual({ codehost: [], tracker: [] });
});

test('the key is the value of the variable; an empty one counts as unset', () => {
  const environment = { SVC_RELAY_READ_KEY: ' key\n', SVC_TRACKER_RELAY_READ_KEY: '', MINE: 'other' };
  expect(readKeyOf([byDefault], environment, 'codehost')).toEqual({
    variable: 'SVC_RELAY_READ_KEY',
    value: 'key',
    fileName: 'relay-read-key',
  });
  expect(readKeyOf([byDefault], environment, 'tracker')).toEqual({
    variable: 'SVC_TRACKER_RELAY_READ_KEY',
    value: undefined,
    fileName: 'linear-relay-read-key',
  });
  expect(readKeyOf([named], environment, 'codehost')?.value).toBe('other');
  expect(readKeyOf([], environment, 'codehost')).toBeUndefined();
});
