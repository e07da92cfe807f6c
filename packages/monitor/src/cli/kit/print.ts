// Findings as text: a few lines each, with nothing that controls the terminal.
import {
  type DoctorFinding,
  doctorParts,
  isOff,
  type SetupFinding,
  setupParts,
} from '../../kernel/check/finding.ts';
import { paint, type Terminal } from './terminal.ts';
import { plainText } from './text.ts';

const colours = { broken: 'red', warning: 'yellow', unknown: 'magenta', ok: 'gray' } as const;
const gradeWidth = 'warning'.length;
export const partWidth = Math.max(...doctorParts.map((part) => part.length));

/** A finding of the doctor: grade, part and what was found, then the evidence and how to fix it. */
export function printFinding(terminal: Terminal, finding: DoctorFinding): void {
  const { part, grade, what, evidence, remedy } = finding;
  // Shown although nothing is wrong: the sizes on the disk, and what can be turned on.
  const shownGrade = isOff(finding) ? 'off' : grade;
  const mark = paint(terminal, colours[grade], shownGrade.padEnd(gradeWidth));
  const indent = ' '.repeat(gradeWidth + partWidth + 4);
  terminal.out(`${mark}  ${part.padEnd(partWidth)}  ${onOneLine(what)}`);
  if (evidence !== null) terminal.out(`${indent}${paint(terminal, 'dim', onOneLine(evidence))}`);
  if (remedy !== null) terminal.out(indent + onOneLine(remedy));
}

export function onOneLine(text: string): string {
  return plainText(text.replaceAll(/\s*\n\s*/g, ' '));
}

const levels = { ok: 'ok', warning: 'warning', unknown: 'warning', broken: 'error' } as const;
const levelColours = { ok: 'green', warning: 'yellow', error: 'red' } as const;
const setupPartWidth = Math.max(...setupParts.map((part) => part.length));

/** A finding of the setup check as its JSON shows it. */
export function setupJson({ part, grade, what, remedy, problem }: SetupFinding) {
  return {
    check: part,
    level: levels[grade],
    found: what,
    ...(remedy !== null && { remedy }),
    ...(problem !== undefined && { problem }),
  };
}

/** The same as one line. */
export function setupLine(terminal: Terminal, { part, grade, what, remedy }: SetupFinding): string {
  const level = levels[grade];
  const mark = paint(terminal, levelColours[level], level.padEnd(gradeWidth));
  const text = remedy === null ? what : `${what.replace(/\.$/, '')}. ${remedy}`;
  return `${mark}  ${part.padEnd(setupPartWidth)}  ${onOneLine(text)}`;
}
