import { expect, test } from 'vitest';
import { everyVerb } from '../describe-program.ts';
import { describeSvc } from '../describe-svc.ts';
import { byPosition, kindAt } from './value-kinds.ts';

const verbs = everyVerb(await describeSvc());
const positions = verbs.flatMap((verb) => [
  ...verb.arguments.map((argument) => ({ verb, name: argument.name, value: argument })),
  ...verb.options.flatMap(({ long, value }) =>
    long === null || value === null ? [] : [{ verb, name: long, value }],
  ),
]);

test('every listed position exists', () => {
  const names = new Set(positions.map(({ verb, name }) => [...verb.path, name].join(' ')));
  expect(Object.keys(byPosition).filter((position) => !names.has(position))).toEqual([]);
});

test('every ticket, run, topic, key and file is completed', () => {
  const unknown = positions
    .filter(({ verb, name, value }) => {
      const called = `${verb.path.join(' ')} ${name} ${value.name}`;
      return /\b(?:tickets?|run|orchId|topic|file|path|folder)$|^config \w+ key|--(?:ticket|event|orchestrator) /.test(
        called,
      )
        ? kindAt(verb, name, value) === undefined
        : false;
    })
    .map(({ verb, name }) => [...verb.path, name].join(' '));
  expect(unknown).toEqual([]);
});
