import { expect, test } from 'vitest';
import { readName } from './check.ts';

test.each([
  ['x', 0, '{"version":"1.2.3","description":"Other."}', 'on the registry, 1.2.3, "Other.". Is it yours?'],
  ['x', 0, '{"version":"1.2.3"}', 'on the registry, 1.2.3, "". Is it yours?'],
  ['x', 1, '{"error":{"code":"E404"}}', 'not on the registry'],
  ['x', 1, '{"error":{"code":"ENOTFOUND"}}', 'unknown, the registry did not answer'],
  ['x', 124, '', 'unknown, the registry did not answer'],
])('%s, code %s, %s', (name, code, printed, line) => {
  expect(readName(name, code, printed)).toBe(`name ${name}: ${line}`);
});
