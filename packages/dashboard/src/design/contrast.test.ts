import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const css = readFileSync(join(import.meta.dirname, 'theme.css'), 'utf8');
const meanings = ['motion', 'you', 'broken', 'proven', 'review', 'unknown'] as const;

/** The tokens of one rule of the stylesheet, by name. */
function tokensOf(selector: string): Map<string, string> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf('\n}', start));
  return new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name ?? '', value ?? '']),
  );
}

/** Red, green and blue as amounts of light. */
function linear(hex: string): number[] {
  return [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
}

/** Relative luminance as WCAG 2.2 defines it. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = linear(hex);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** The distance in OKLab, in which equal distances look equally different. */
function difference(one: string, other: string): number {
  const [first, second] = [oklab(one), oklab(other)];
  return Math.hypot(...first.map((value, index) => value - (second[index] ?? 0)));
}

function oklab(hex: string): number[] {
  const [red = 0, green = 0, blue = 0] = linear(hex);
  const [l, m, s] = [
    0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue,
    0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue,
    0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue,
  ].map(Math.cbrt) as [number, number, number];
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test('figures are tabular only in columns (parts/table.tsx), not in every text', () =>
  expect(css).not.toMatch(/tnum|tabular/));

test('black on white is 21 to 1', () => expect(contrast('#000000', '#ffffff')).toBeCloseTo(21));

describe.each([
  ['light', tokensOf(':root')],
  ['dark', tokensOf(':root[data-theme="dark"]')],
])('%s', (_theme, tokens) => {
  const between = (one: string, other: string): number => {
    const [first, second] = [tokens.get(one), tokens.get(other)];
    if (first === undefined || second === undefined) throw new Error(`no token ${one} or ${other}`);
    return contrast(first, second);
  };
  const grounds = ['ground', 'surface', 'raised', 'sunken'];
  const lines = ['added-soft', 'removed-soft'];

  test.each(
    [...grounds, ...lines].flatMap((ground) =>
      ['ink', 'text', 'muted'].map((text) => [text, ground] as const),
    ),
  )('%s on %s can be read', (text, ground) => expect(between(text, ground)).toBeGreaterThanOrEqual(4.5));
  test.each(
    meanings.flatMap((meaning) =>
      [...grounds, `${meaning}-soft`].map((ground) => [meaning, ground] as const),
    ),
  )('%s on %s can be read', (text, ground) => expect(between(text, ground)).toBeGreaterThanOrEqual(4.5));
  test.each(
    meanings.flatMap((meaning) =>
      ['ground', 'surface'].map((ground) => [`${meaning}-mark`, ground] as const),
    ),
  )('%s on %s can be seen', (mark, ground) => expect(between(mark, ground)).toBeGreaterThanOrEqual(3));
  const series = [...tokens.keys()].filter((name) => name.startsWith('series-'));
  test.each(series)('%s can be seen, and is not glaring', (name) => {
    expect(between(name, 'surface')).toBeGreaterThanOrEqual(3);
    expect(between(name, 'ink')).toBeGreaterThanOrEqual(1.5);
  });
  test.each(series.flatMap((one, index) => series.slice(index + 1).map((other) => [one, other] as const)))(
    '%s and %s do not look alike',
    (one, other) =>
      expect(difference(tokens.get(one) ?? '', tokens.get(other) ?? '')).toBeGreaterThanOrEqual(0.08),
  );
  test('muted can be read on every quiet ground', () => {
    for (const meaning of meanings) expect(between('muted', `${meaning}-soft`)).toBeGreaterThanOrEqual(4.5);
  });
});

test('both themes have the same tokens', () => {
  expect([...tokensOf(':root[data-theme="dark"]').keys()]).toEqual([...tokensOf(':root').keys()]);
});
