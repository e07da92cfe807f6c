import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { setInJson, unsetInJson } from './edit-json.ts';

const text = `{
    "svc" : {"projectKey":"demo" , "x-unknown": [1,2,
      3]},
    "other": 1.50
}
`;

describe('set', () => {
  test('replaces one value and no other byte', () => {
    expect(setInJson(text, ['svc', 'projectKey'], 'new')).toBe(text.replace('"demo"', '"new"'));
  });

  test('adds to an object in its own style', () => {
    expect(setInJson('{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n', ['a', 'c', 'd'], true)).toBe(
      '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": {\n\t\t\t"d": true\n\t\t}\n\t}\n}\n',
    );
    expect(setInJson('{"a": 1}', ['b'], { c: 2 })).toBe('{"a": 1, "b": {"c":2}}');
  });

  test('keeps CRLF, and starts an empty file', () => {
    expect(setInJson('{\r\n  "a": 1\r\n}\r\n', ['b'], [1])).toBe(
      '{\r\n  "a": 1,\r\n  "b": [\r\n    1\r\n  ]\r\n}\r\n',
    );
    expect(setInJson('', ['a'], 1)).toBe('{\n  "a": 1\n}\n');
  });

  test('does not write below a value that is not an object', () => {
    expect(() => setInJson('{"svc": 5}', ['svc', 'projectKey'], 'x')).toThrow('svc is not an object');
    expect(() => setInJson('[]', ['a'], 1)).toThrow('not a JSON object');
  });
});

describe('unset', () => {
  test.each([
    ['first', '{"a": 1, "b": 2}', ['a'], '{"b": 2}'],
    ['last', '{\n  "a": 1,\n  "b": 2\n}\n', ['b'], '{\n  "a": 1\n}\n'],
    ['only', '{"a": {"b": 2}}', ['a', 'b'], '{"a": {}}'],
    ['absent', '{"a": 1}', ['b', 'c'], '{"a": 1}'],
  ])('%s', (_, before, path, after) => {
    expect(unsetInJson(before, path)).toBe(after);
  });
});

test('any sequence of sets and unsets gives what the same changes give to the parsed value', () => {
  const name = fc.constantFrom('a', 'b', 'c/d', 'e.f', '"q"');
  const path = fc.array(name, { minLength: 1, maxLength: 3 });
  const edit = fc.record({ path, value: fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 12 }), (edits) => {
      let written = '{}\n';
      const model: Record<string, unknown> = {};
      for (const { path: keys, value } of edits) {
        if (!canHold(model, keys)) continue;
        written = value === undefined ? unsetInJson(written, keys) : setInJson(written, keys, value);
        apply(model, keys, value);
      }
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(model)));
    }),
    { numRuns: 500 },
  );
});

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function canHold(model: Tree, keys: readonly string[]): boolean {
  let place: unknown = model;
  for (const key of keys.slice(0, -1)) {
    if (!isTree(place)) return false;
    if (!Object.hasOwn(place, key)) return true;
    place = place[key];
  }
  return isTree(place);
}

function apply(model: Tree, keys: readonly string[], value: unknown): void {
  let place = model;
  for (const key of keys.slice(0, -1)) {
    if (value === undefined && !Object.hasOwn(place, key)) return;
    place = (place[key] ??= {}) as Tree;
  }
  const last = keys.at(-1) ?? '';
  if (value === undefined) delete place[last];
  else place[last] = value;
}
