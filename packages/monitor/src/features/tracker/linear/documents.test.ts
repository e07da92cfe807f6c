import { checkTrackerDocument } from '@svc/testkit';
import { expect, test } from 'vitest';
import { trackerShapes } from '../api-answer.ts';
import { trackerDocuments } from './documents.ts';

const { inPublishedSchema: published } = await checkTrackerDocument('{ viewer { id } }');
if (!published)
  console.warn('The published schema is not here: our documents are held only against our own.');

test.each(Object.entries(trackerDocuments))(
  '%s is valid by our schema and by the published one',
  async (_, document) => {
    const { inOurSchema, inPublishedSchema } = await checkTrackerDocument(document);
    expect(inOurSchema).toEqual([]);
    expect(inPublishedSchema ?? []).toEqual([]);
  },
);

test('an invalid document is detected', async () => {
  const { inOurSchema, inPublishedSchema } = await checkTrackerDocument(
    'query { teams { nodes { colour } } }',
  );
  expect(inOurSchema).toHaveLength(1);
  expect(inPublishedSchema ?? ['not here']).toHaveLength(1);
});

test('every document has the shape of its answer, and the name of its operation', () => {
  expect(Object.keys(trackerShapes).toSorted()).toEqual(Object.keys(trackerDocuments).toSorted());
  for (const [name, document] of Object.entries(trackerDocuments))
    expect(document).toMatch(new RegExp(`^\\s*(query|mutation) ${name}\\(`));
});
