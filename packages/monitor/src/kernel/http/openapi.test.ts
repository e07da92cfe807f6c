import { describe, expect, test } from 'vitest';
import { api } from '../../features/api.ts';
import { readLogsRequest, readMetricsRequest } from '../../features/otel/proxy-request.ts';
import { apiFailureStatus } from './failures.ts';
import { type OpenapiOperation, openapiDocument } from './openapi.ts';

const document = openapiDocument({ version: '1.2.3', api });
const text = JSON.stringify(document);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
);

type Parameter = { name: string; in: string; required: boolean; schema: object };
const parametersOf = ({ parameters = [] }: OpenapiOperation) => parameters as Parameter[];

describe('the document', () => {
  test('is OpenAPI 3.1 with the given version', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: '1.2.3' });
    expect(JSON.parse(text)).toEqual(document);
  });

  test('has every route of the table, by name', () => {
    const named = operations.map(({ operation }) => operation.operationId);
    expect(named.toSorted()).toEqual(Object.keys(api).toSorted());
    expect(new Set(named).size).toBe(named.length);
  });

  test('every reference resolves, and every component is referenced', () => {
    const referred = new Set([...text.matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, name = '']) => name));
    const { schemas, responses } = document.components;
    const present = [
      ...Object.keys(schemas).map((name) => `schemas/${name}`),
      ...Object.keys(responses).map((name) => `responses/${name}`),
    ];
    expect([...referred].toSorted()).toEqual(present.toSorted());
    expect(text.match(/"\$ref":"(?!#\/components\/)/)).toBeNull();
    expect(text).not.toContain('$defs');
  });

  test.each(operations)(
    '$name declares the parameters of its path, and needs them',
    ({ path, operation }) => {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = parametersOf(operation).filter((one) => one.in === 'path');
      expect(declared.map(({ name }) => name)).toEqual(inPath);
      expect(declared.every(({ required }) => required)).toBe(true);
    },
  );

  test.each(operations)('$name has a summary, an answer, and only tags that are listed', ({ operation }) => {
    expect(operation.summary).not.toBe('');
    expect(operation.responses).toHaveProperty('200');
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags));
  });

  test('every failure has the status of its code', () => {
    for (const { operation } of operations)
      for (const [status, response] of Object.entries(operation.responses)) {
        const { 'x-codes': codes = [] } = response as { 'x-codes'?: (keyof typeof apiFailureStatus)[] };
        for (const code of codes) expect(String(apiFailureStatus[code])).toBe(status);
      }
  });

  test('a refused summary has two shapes, one without a code', () => {
    expect(document.paths['/api/summarize']?.['post']?.responses['503']).toMatchObject({
      content: {
        'application/json': {
          schema: { anyOf: [{ $ref: '#/components/schemas/Failure' }, { properties: { error: {} } }] },
        },
      },
    });
  });
});

describe('requests that are read by hand have the described fields', () => {
  test.each([
    ['a metrics query', api.postMetricsQuery.body, readMetricsRequest],
    ['a log query', api.postLogsQuery.body, readLogsRequest],
  ])('%s', (_, described, read) => {
    const answer = read({ nothing: 1 });
    expect(answer.ok ? '' : answer.problem).toContain(
      `known are ${Object.keys(described.shape).join(', ')}.`,
    );
  });
});
