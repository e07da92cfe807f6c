import { expect, test } from 'vitest';
import { everyVerb } from '../describe-program.ts';
import { describeSvc } from '../describe-svc.ts';
import { byPlace, kindAt } from './value-kinds.ts';

const verbs = everyVerb(describeSvc());
const places = verbs.flatMap((verb) => [
  ...verb.arguments.map((argument) => ({ verb, name: argument.name, value: argument })),
  ...verb.options.flatMap(({ long, value }) =>
    long === null || value === null ? [] : [{ verb, name: long, value }],
  ),
]);

test('every place that is named is there', () => {
  const names = new Set(places.map(({ verb, name }) => [...verb.path, name].join(' ')));
  expect(Object.keys(byPlace).filter((place) => !names.has(place))).toEqual([]);
});

test('everything that is called a ticket, a run, a topic, a key or a file is completed', () => {
  const unknown = places
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
