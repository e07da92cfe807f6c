import type { DocumentProblems } from './schema.ts';

/** The problems of a document for the tracker, by our schema and by the published one. */
export async function checkTrackerDocument(document: string): Promise<DocumentProblems> {
  const { documentProblems } = await import('./schema.ts');
  return documentProblems(document);
}
