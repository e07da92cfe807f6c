// A tool call of an agent, as far as the log and the board need it. Every update is an upsert: a missing field keeps its
// value.

import { cutText } from '../log/cut-text.ts';
import { asFields, type Fields, listAt, numberAt, objectAt, textAt } from '../receive/payload-fields.ts';
import { MOST_INPUT } from './hook-event.ts';
import { toolStatuses } from './schemas.ts';

const MOST_PATHS = 20;
const LONGEST_TEXT = 400;
/** Of a longer one: the end may be what matters. */
const SHOWN_END = 1_000;

type ToolStatus = (typeof toolStatuses)[number];
export type AgentTool = {
  id: string;
  title: string;
  /** False while the agent has announced it without saying what it does. */
  isNamed: boolean;
  /** As the agent reports it: read, edit, delete, move, search, execute, think, fetch, switch_mode, other. */
  kind: string;
  status: ToolStatus;
  paths: readonly string[];
  command: string | null;
  /** The title or the command is too long to be shown whole. */
  isCut: boolean;
  exitCode: number | null;
};

export function cutOff(tool: AgentTool): AgentTool {
  return isToolOver(tool) ? tool : { ...tool, status: 'cut-off' };
}

/** It has ended, in whatever way. */
export function isToolOver({ status }: AgentTool): boolean {
  return status !== 'pending' && status !== 'in_progress';
}

export function toolOf(update: Fields, before: AgentTool | undefined): AgentTool {
  const paths = listAt(update, 'locations')
    .concat(listAt(update, 'content').filter((one) => asFields(one)?.['type'] === 'diff'))
    .flatMap((one) => textAt(asFields(one) ?? {}, 'path') ?? []);
  const exit = objectAt(objectAt(update, '_meta'), 'terminal_exit');
  const title = textAt(update, 'title');
  const command = commandIn(update);
  const texts = [title, command].filter((text) => text !== undefined);
  return {
    id: before?.id ?? textAt(update, 'toolCallId') ?? '',
    title: title === undefined ? (before?.title ?? 'a tool') : shownWhole(title),
    isNamed: before?.isNamed === true || saysWhat(update),
    kind: textAt(update, 'kind') ?? before?.kind ?? 'other',
    status: toolStatusIn(update['status']) ?? before?.status ?? 'pending',
    paths: paths.length === 0 ? (before?.paths ?? []) : [...new Set(paths)].slice(0, MOST_PATHS),
    command: command === undefined ? (before?.command ?? null) : shownWhole(command),
    isCut: before?.isCut === true || texts.some((text) => text.length > MOST_INPUT),
    exitCode: numberAt(exit, 'exit_code') ?? before?.exitCode ?? null,
  };
}

function saysWhat(update: Fields): boolean {
  const hasInput = Object.keys(objectAt(update, 'rawInput')).length > 0;
  return hasInput || update['status'] === 'in_progress' || listAt(update, 'locations').length > 0;
}

/** Some agents report its arguments as a list. */
function commandIn(update: Fields): string | undefined {
  const input = objectAt(update, 'rawInput');
  const words = listAt(input, 'command');
  return words.length === 0 ? textAt(input, 'command') : words.map(wordOf).join(' ');
}

function wordOf(word: unknown): string {
  return typeof word === 'string' && /^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word);
}

/** Whole if it has at most 4,000 characters; otherwise its start and its end, with a mark between them. */
function shownWhole(text: string): string {
  if (text.length <= MOST_INPUT) return text;
  return `${cutText(text.slice(0, -SHOWN_END), MOST_INPUT - SHOWN_END)}${text.slice(-SHOWN_END)}`.toWellFormed();
}

export function toolStatusIn(status: unknown): ToolStatus | undefined {
  return toolStatuses.find((one) => one === status);
}

export function shortText(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}
