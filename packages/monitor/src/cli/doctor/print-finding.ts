// A finding for a person: the grade, the part and what was found, then the evidence and how to fix it.
import { type DoctorFinding, doctorParts } from '@svc/core';
import { paint, type Terminal } from '../terminal.ts';
import { plainText } from '../text.ts';

const colours = { broken: 'red', warning: 'yellow', unknown: 'magenta', ok: 'gray' } as const;
const gradeWidth = 'warning'.length;
export const partWidth = Math.max(...doctorParts.map((part) => part.length));

export function printFinding(
  terminal: Terminal,
  { part, grade, what, evidence, remedy }: DoctorFinding,
): void {
  const mark = paint(terminal, colours[grade], (grade === 'ok' ? 'off' : grade).padEnd(gradeWidth));
  const indent = ' '.repeat(gradeWidth + partWidth + 4);
  terminal.out(`${mark}  ${part.padEnd(partWidth)}  ${onOneLine(what)}`);
  if (evidence !== null) terminal.out(`${indent}${paint(terminal, 'dim', onOneLine(evidence))}`);
  if (remedy !== null) terminal.out(indent + onOneLine(remedy));
}

export function onOneLine(text: string): string {
  return plainText(text.replaceAll(/\s*\n\s*/g, ' '));
}
