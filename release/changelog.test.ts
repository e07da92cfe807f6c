import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { releaseChangelog, releasedNotes } from './changelog.ts';

const head = '# Changelog\n\nAll notable changes.\n';
const unreleased = `${head}\n## [Unreleased]\n\nWhat will be version 0.2.0.\n\n### Added\n\n- A feature.\n`;
const older = '\n## [0.1.0] - 2026-01-01\n\n### Added\n\n- A start.\n';

describe('the section of a release', () => {
  it('takes the unreleased changes, and leaves an empty section for the next ones', () => {
    expect(releaseChangelog(unreleased + older, '0.2.0', '2026-02-03')).toEqual({
      text: `${head}\n## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n\n- A feature.\n${older}`,
      notes: '### Added\n\n- A feature.',
    });
  });

  it('ends at the links, if there are any', () => {
    const links = '\n[Unreleased]: https://example.com/compare\n';
    const edit = releaseChangelog(unreleased + links, '0.2.0', '2026-02-03');
    expect(edit).toMatchObject({ notes: '### Added\n\n- A feature.' });
    expect('text' in edit && edit.text.endsWith(`- A feature.\n${links}`)).toBe(true);
  });

  it('can be followed by another', () => {
    const first = releaseChangelog(unreleased, '0.2.0', '2026-02-03');
    if (!('text' in first)) throw new Error(first.problem);
    const more = first.text.replace('## [Unreleased]\n', '## [Unreleased]\n\n### Fixed\n\n- The feature.\n');
    const second = releaseChangelog(more, '0.2.1', '2026-02-04');
    expect(second).toMatchObject({ notes: '### Fixed\n\n- The feature.' });
    expect('text' in second && second.text.match(/^## .*$/gm)).toEqual([
      '## [Unreleased]',
      '## [0.2.1] - 2026-02-04',
      '## [0.2.0] - 2026-02-03',
    ]);
  });
});

it('is found again by its version', () => {
  const edit = releaseChangelog(unreleased + older, '0.2.0', '2026-02-03');
  if (!('text' in edit)) throw new Error(edit.problem);
  expect(releasedNotes(edit.text, '0.2.0')).toBe(edit.notes);
  expect(releasedNotes(edit.text, '0.1.0')).toBe('### Added\n\n- A start.');
  expect(releasedNotes(edit.text, '0.3.0')).toBeUndefined();
});

test.each([
  ['nothing under the heading', `${head}\n## [Unreleased]\n${older}`, 'nothing is listed'],
  ['only headings', `${head}\n## [Unreleased]\n\n### Added\n${older}`, 'nothing is listed'],
  ['only a forecast', `${head}\n## [Unreleased]\n\nWhat will be version 9.\n`, 'nothing is listed'],
  ['no heading', head + older, 'it occurs 0 times'],
  ['two headings', unreleased + unreleased, 'it occurs 2 times'],
  ['a released version', `${unreleased}\n## [0.2.0] - 2026-01-01\n\n- Old.\n`, 'has a section for 0.2.0'],
])('%s is rejected', (_, text, words) => {
  expect(releaseChangelog(text, '0.2.0', '2026-02-03')).toEqual({ problem: expect.stringContaining(words) });
});

it('can be made from the changelog of this repository', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'CHANGELOG.md'), 'utf8');
  expect(releaseChangelog(text, '99.0.0', '2026-02-03')).not.toHaveProperty('problem');
});
