import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { locationVariables, readMachine } from './environment.ts';

test('the locations for another process: only the given ones, as absolute paths', () => {
  const given = {
    SVC_DATA_DIR: '~/data',
    SVC_RUNS_DIR: 'runs',
    SVC_MONITOR_PORT: '7500',
    SVC_VERSION_FILE: '/v',
  };
  expect(locationVariables(readMachine(given, '/home/kim'))).toEqual({
    SVC_DATA_DIR: '/home/kim/data',
    SVC_RUNS_DIR: resolve('runs'),
    SVC_MONITOR_PORT: '7500',
  });
  expect(locationVariables(readMachine({}, '/home/kim'))).toEqual({});
});
