// The changelog of a release: the text under [Unreleased] becomes the section of the version, and an empty [Unreleased]
// stays above it. Pure: text in, text out.

const UNRELEASED = '## [Unreleased]';

export type ChangelogEdit = { text: string; notes: string } | { problem: string };

/** `date` as YYYY-MM-DD. A release without any changes, or a second one of a version, is rejected. */
export function releaseChangelog(text: string, version: string, date: string): ChangelogEdit {
  const lines = text.split('\n');
  if (lines.some((line) => line.startsWith(`## [${version}]`)))
    return { problem: `CHANGELOG.md already has a section for ${version}: choose the next version` };
  const starts = lines.flatMap((line, at) => (line.trim() === UNRELEASED ? [at] : []));
  const [start] = starts;
  if (start === undefined || starts.length > 1)
    return {
      problem: `CHANGELOG.md must have the heading "${UNRELEASED}" once, it occurs ${starts.length} times`,
    };
  const after = lines.findIndex((line, at) => at > start && isSectionEnd(line));
  const end = after === -1 ? lines.length : after;
  const notes = withoutForecast(lines.slice(start + 1, end))
    .join('\n')
    .trim();
  if (!/^- \S/m.test(notes)) return { problem: 'CHANGELOG.md: nothing is listed under [Unreleased]' };
  const section = [UNRELEASED, '', `## [${version}] - ${date}`, '', notes, ''];
  return { text: [...lines.slice(0, start), ...section, ...lines.slice(end)].join('\n'), notes };
}

/** The section of a version that was released. */
export function releasedNotes(text: string, version: string): string | undefined {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`## [${version}]`));
  if (start === -1) return undefined;
  const after = lines.findIndex((line, at) => at > start && isSectionEnd(line));
  return lines
    .slice(start + 1, after === -1 ? undefined : after)
    .join('\n')
    .trim();
}

/** The next version's heading, or the list of links at the end of the file. */
const isSectionEnd = (line: string): boolean => line.startsWith('## ') || /^\[[^\]]+\]: /.test(line);

/** "What will be version 0.1.0." is no longer true after the release. */
const withoutForecast = (lines: readonly string[]): string[] =>
  lines.filter((line) => !/^What will be version \S+$/.test(line.trim()));
