// A verb's access to the outside: streams, environment, time. Passed in, so tests need no process.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import type { Environment } from '../../kernel/config/resolved-value.ts';
import { plainJson } from './text.ts';

export type Terminal = {
  out: (text: string) => void;
  err: (text: string) => void;
  /** All of standard input, as text. */
  readInput: () => Promise<string>;
  inputIsTerminal: boolean;
  /** Asks the user; undefined when the input ends without a line. */
  ask: (question: string) => Promise<string | undefined>;
  /** Only for a terminal. */
  colour: boolean;
  /** The width of the terminal, or 80. */
  columns: number;
  environment: Environment;
  home: string;
  folder: string;
  now: () => Date;
  /** Aborted by Ctrl-C. */
  interrupted: AbortSignal;
};

type Style = Parameters<typeof styleText>[0];

export function paint(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text;
}

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(plainJson(value, 2));
}

/** Pads each column to its widest cell, except the last. */
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

/** Thrown by a verb whose answer is no, after it has printed everything. Exit code 1. */
export class AnswerIsNo extends Error {}

/** Thrown when the user cancels a question (Ctrl-C at a prompt is a key, not a signal). Exit code 130. */
export class Interrupted extends Error {}

/**
 * One question, on standard error, because standard output is for the result. Undefined when the input ends, or the user
 * interrupts, before there is a line.
 */
export async function askUser(question: string, interrupted: AbortSignal): Promise<string | undefined> {
  process.stderr.write(question);
  // Not raw mode: the terminal edits the line itself, and Ctrl-C reaches the process.
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

/**
 * Interactive only if standard input is a terminal and `SVC_AUTONOMOUS` is unset. Any non-empty value of the variable
 * means autonomous: an extra warning costs nothing, but an unanswered question stops a run.
 */
export function isInteractive(terminal: Pick<Terminal, 'inputIsTerminal' | 'environment'>): boolean {
  return terminal.inputIsTerminal && (terminal.environment['SVC_AUTONOMOUS'] ?? '') === '';
}

/** An answer to `[Y/n]`: an empty line is yes. Undefined, the end of the input, is no. */
export function meansYes(answer: string | undefined): boolean {
  return answer !== undefined && /^(?:y|yes)?$/i.test(answer.trim());
}

/** Without a terminal, `--yes` is the consent. */
export async function agree(
  terminal: Terminal,
  yes: true | undefined,
  question: string,
  again: string,
): Promise<void> {
  if (yes) return;
  if (!isInteractive(terminal)) {
    terminal.err(`Nothing was changed. To do it: ${again}`);
    throw new AnswerIsNo();
  }
  const answer = await terminal.ask(`${question} [y/N] `);
  if (/^y(?:es)?$/i.test(answer?.trim() ?? '')) return;
  terminal.err('Nothing was changed.');
  throw new AnswerIsNo();
}
