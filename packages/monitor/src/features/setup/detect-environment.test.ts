import { expect, test } from 'vitest';
import { environmentSlip, environmentsIn, productionAmong } from './detect.ts';

const deployed = (...names: string[]) => environmentsIn(names.map((environment) => ({ environment })));

test.each([
  [['staging', 'production'], 'production'],
  [['staging', 'Prod'], 'Prod'],
  [['live', 'production'], 'production'],
  [['staging'], undefined],
  [[], undefined],
])('of %j, production is %s', (names, production) => {
  expect(productionAmong(deployed(...names))).toBe(production);
});

test('one that the code host marks as production counts if no name does', () => {
  const environments = environmentsIn([
    { environment: 'eu', production_environment: true },
    { environment: 'eu', production_environment: false },
    { environment: 'test', production_environment: false },
  ]);
  expect(environments).toEqual([
    { name: 'eu', production: true },
    { name: 'test', production: false },
  ]);
  expect(productionAmong(environments)).toBe('eu');
});

test('those of a pull request do not count, and anything but a list has none', () => {
  expect(environmentsIn([{ environment: 'pr-12', transient_environment: true }])).toEqual([]);
  expect(deployed('Preview – web')).toEqual([]);
  for (const wrong of [null, {}, [{}], [{ environment: '' }]]) expect(environmentsIn(wrong)).toEqual([]);
});

test.each([
  ['production', undefined],
  ['prodution', /Did you mean production\? It has deployments to: production, staging\./],
  ['mars', undefined],
])('%s is a likely typo: %s', (name, words) => {
  const slip = environmentSlip(name, deployed('production', 'staging'));
  if (words === undefined) expect(slip).toBeUndefined();
  else expect(slip).toMatch(words);
});
