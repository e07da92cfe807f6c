import type { DocumentProblems } from './document-problems.ts';

/** What is wrong with a document that is meant for the tracker, by our schema and by the published one. */
export async function checkTrackerDocument(document: string): Promise<DocumentProblems> {
  const { documentProblems } = await import('./document-problems.ts');
  return documentProblems(document);
}
