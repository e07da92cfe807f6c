// What a verb may touch of the outside: streams, environment, time. Passed in, so that tests need no process.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import type { Environment } from '@svc/core';
import { plainJson } from './text.ts';

export type Terminal = {
  out: (text: string) => void;
  err: (text: string) => void;
  /** The whole of standard input, as text. */
  readInput: () => Promise<string>;
  inputIsTerminal: boolean;
  /** Asks the person: the answer without its line break, or undefined when the input ends without one. */
  ask: (question: string) => Promise<string | undefined>;
  /** Colour only where a person looks. */
  colour: boolean;
  environment: Environment;
  home: string;
  folder: string;
  now: () => Date;
  /** Aborted when the person interrupts. */
  interrupted: AbortSignal;
};

type Style = Parameters<typeof styleText>[0];

export function paint(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text;
}

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(plainJson(value, 2));
}

/** Columns padded to their widest cell; the last one is left ragged. */
export function printTable(terminal: Terminal, rows: readonly (readonly string[])[]): void {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
    );
    terminal.out(cells.join('  ').trimEnd());
  }
}

/** Thrown by a verb whose answer is no: everything was said already. Exit code 1. */
export class AnswerIsNo extends Error {}

/** Thrown when the person ends a question (Ctrl-C at a prompt is a key, not a signal). Exit code 130. */
export class Interrupted extends Error {}

// One question to the person at the terminal. It goes to standard error, so that standard output stays the result.

/** Undefined when the input ends, or the person interrupts, before there is a line. */
export async function askPerson(question: string, interrupted: AbortSignal): Promise<string | undefined> {
  process.stderr.write(question);
  // The terminal stays as it is: it edits the line itself, and Ctrl-C reaches the process.
  const lines = createInterface({ input: process.stdin, terminal: false, signal: interrupted });
  try {
    let answer: string | undefined;
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    await once(lines, 'close');
    return answer;
  } finally {
    lines.close();
  }
}
