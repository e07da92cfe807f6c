// From what `gh api` printed to a value: one answer, all pages of a list, or GraphQL. A list is whole or it
// failed: a page in the middle that went wrong never makes a shorter list.
import { type CodehostAnswer, type GraphqlAnswer, problemIn, readGraphqlAnswer } from '@svc/core';
import { parseExactIds } from './exact-json.ts';
import { nextPage, readAnswer, readPages } from './gh-output.ts';
import { done, failed, type GhResult, malformed } from './gh-result.ts';

export type GhAnswer = CodehostAnswer & { json: unknown };

/** `answers` are what the code host said, whether or not it can be used: they tell the quota. */
export type Reading<Value> = { answers: CodehostAnswer[]; result: GhResult<Value> };

export type ReadOutput<Value> = (output: string, receivedAt: number) => Reading<Value>;

export const readOne: ReadOutput<GhAnswer> = (output, receivedAt) => {
  const answer = readAnswer(output, receivedAt);
  if (answer === undefined) return { answers: [], result: nothing };
  const problem = problemIn(answer);
  if (problem !== undefined) return { answers: [answer], result: failed(problem) };
  const json = answer.body.trim() === '' ? null : parseExactIds(answer.body);
  return {
    answers: [answer],
    result: json === undefined ? malformed('it is not JSON') : done({ ...answer, json }),
  };
};

/** What is no JSON: a log. */
export const readText: ReadOutput<string> = (output, receivedAt) => {
  const answer = readAnswer(output, receivedAt);
  if (answer === undefined) return { answers: [], result: nothing };
  const problem = problemIn(answer);
  return { answers: [answer], result: problem === undefined ? done(answer.body) : failed(problem) };
};

export const readList: ReadOutput<unknown[]> = (output, receivedAt) => {
  const answers = readPages(output, receivedAt);
  return { answers, result: itemsOf(answers) };
};

function itemsOf(pages: readonly CodehostAnswer[]): GhResult<unknown[]> {
  const last = pages.at(-1);
  if (last === undefined) return nothing;
  const problem = pages.map(problemIn).find((one) => one !== undefined);
  if (problem !== undefined) return failed(problem);
  if (nextPage(last) !== undefined) return malformed('a page is missing');
  const lines = pages.flatMap(({ body }) => body.split('\n')).filter((line) => line !== '');
  const items = lines.map(parseExactIds);
  const areObjects = items.every((item) => typeof item === 'object' && item !== null);
  return areObjects ? done(items) : malformed('it is not a list');
}

export const readGraphql: ReadOutput<GraphqlAnswer> = (output, receivedAt) => {
  const { answers, result } = readOne(output, receivedAt);
  return { answers, result: result.ok ? readGraphqlAnswer(result.value, result.value.json) : result };
};

const nothing = failed({ kind: 'unavailable', message: 'no answer' });
