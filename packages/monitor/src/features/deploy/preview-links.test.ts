import { expect, test } from 'vitest';
import { growthOfCost } from '../../kernel/testing/growth-of-cost.ts';
import { previewLinksIn } from '../pull-requests/reduce-pull-request.ts';

test.each<[string, string, string[]]>([
  ['by the link text', '[Visit Preview](https://web-42.example.app)', ['https://web-42.example.app']],
  [
    'by the text before it',
    'Preview URL: https://a.example.dev/path?x=1.',
    ['https://a.example.dev/path?x=1'],
  ],
  ['by the URL', 'See https://deploy-preview-12--site.example', ['https://deploy-preview-12--site.example']],
  [
    'a table with other links',
    '| web | [Inspect](https://host.example/i) | [Visit Preview](https://p.example.app) |',
    ['https://p.example.app'],
  ],
  ['other links', 'A preview is coming.\nDocs: https://docs.example', []],
  ['without "preview"', 'See https://example.org', []],
  ['the code host itself', 'Preview: https://codehost.example/acme/web/pull/1', []],
  ['once', 'Preview https://a.example\npreview https://a.example', ['https://a.example']],
  ['not a web address', 'preview: javascript:alert(1) ftp://x', []],
])('%s', (_name, text, expected) => {
  expect(previewLinksIn(text, 'https://codehost.example/acme/web/pull/42')).toEqual(expected);
});

test('a hostile text takes linear time', () => {
  const read = (length: number) =>
    previewLinksIn(`preview ${'[https://'.repeat(length)}${'('.repeat(length)}`);
  expect(read(10_000)).toEqual([]);
  // Short enough that nearly all of it is read.
  expect(growthOfCost(read, 1_920)).toBeLessThan(6);
});
