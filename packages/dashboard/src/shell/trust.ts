// Can this screen be trusted? One line from the findings of the daemon, which come with the worst first.
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import type { DoctorFinding } from 'svc-monitor/src/kernel/check/finding.ts';
import { isOff } from 'svc-monitor/src/kernel/check/finding.ts';
import { meaningOfGrade } from '../parts/findings.tsx';

type TrustLine = { meaning: Meaning; words: string };

/** Above a past board, "live" alone would speak of another board than the one that is shown. */
export function trustLine(findings: readonly DoctorFinding[], { isPast }: { isPast: boolean }): TrustLine {
  const line = lineOfNow(findings);
  if (!isPast) return line;
  if (line.meaning === 'proven') return { meaning: 'unknown', words: 'This board is not live' };
  return { ...line, words: `This board is not live. ${line.words}` };
}

/** One quiet line if nothing is wrong; what is off does not count as wrong. */
function lineOfNow(findings: readonly DoctorFinding[]): TrustLine {
  const wrong = findings.filter(({ grade }) => grade !== 'ok');
  const [worst] = wrong;
  if (worst !== undefined) {
    const more = wrong.length === 1 ? '' : `, and ${wrong.length - 1} more`;
    return { meaning: meaningOfGrade[worst.grade], words: `${sentence(worst.what)}${more}` };
  }
  const off = findings.filter((finding) => isOff(finding) && !backends.has(finding.part)).map(shortly);
  return {
    meaning: 'proven',
    words: off.length === 0 ? 'Everything is live' : `Live (${listed(off)})`,
  };
}

/** Nothing on the board depends on them: the doctor screen lists them. */
const backends: ReadonlySet<DoctorFinding['part']> = new Set(['telemetry', 'providers']);

/** Without the reason, which the list has. */
function shortly({ what }: DoctorFinding): string {
  return what.replace(/: .*$/s, '');
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const MOST_NAMED = 3;

/** `the tracker feed is off, the issue tracker is not polled and 2 more`. */
function listed(words: readonly string[]): string {
  if (words.length <= MOST_NAMED) return words.join(', ');
  return `${words.slice(0, MOST_NAMED - 1).join(', ')} and ${words.length - MOST_NAMED + 1} more`;
}
