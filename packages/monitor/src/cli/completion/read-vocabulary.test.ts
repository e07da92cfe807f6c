import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { everyVerb } from '../describe-program.ts';
import { describeSvc } from '../describe-svc.ts';
import { readVocabulary } from './answer.ts';
import { VOCABULARY_FILE } from './find-completions.ts';
import { isPlainValue } from './value-kinds.ts';

test('the file of a build is read as it is', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, VOCABULARY_FILE), '{"program":{"name":"x"}}');
  expect(await readVocabulary(folder)).toEqual({ program: { name: 'x' } });
});

test('without a build it comes from the source, and can be written to a file', async () => {
  const known = await readVocabulary(temporaryFolder());
  expect(known.program).toEqual(await describeSvc());
  expect(JSON.parse(JSON.stringify(known))).toEqual(known);
});

test('everything can be offered: no verb, option or value needs a quote in any shell', async () => {
  const { program, values } = await readVocabulary();
  const words = everyVerb(program).flatMap(({ path, options, arguments: all }) => [
    ...path,
    ...options.flatMap(({ long, short, value }) => [long, short, ...(value?.choices ?? [])]),
    ...all.flatMap(({ choices }) => choices),
  ]);
  const listed = Object.values(values).flatMap((list) => list.map(({ value }) => value));
  const odd = [...words, ...listed].filter((word) => word !== null && !isPlainValue(word));
  expect(odd).toEqual([]);
  expect(listed).toEqual(
    expect.arrayContaining(['codehost.pr.merged', 'svc.projectKey', 'project', 'plans', 'inReview']),
  );
});
