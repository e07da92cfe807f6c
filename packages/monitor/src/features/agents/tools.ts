// A tool call of an agent, as far as the log and the board need it. Every update is an upsert: a missing field keeps its
// value.
import { asFields, type Fields, listAt, numberAt, objectAt, textAt } from '@svc/contract/payload-fields';
import { cutText } from '@svc/lib/cut-text';
import { MOST_INPUT } from './request-limit.ts';
import { toolStatuses } from './schemas.ts';

const MOST_PATHS = 20;
export const MOST_DIFFS = 20;
/** For each side. */
export const LONGEST_DIFF = 256 * 1024;
const LONGEST_TEXT = 400;
/** A longer text keeps its end, which may be what matters. */
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
  /** For a person who allows it: its command, and as JSON whatever else its input has that is not shown otherwise. */
  input: string | null;
  /** What is too long to be shown whole. */
  cut: Readonly<Record<'title' | 'input' | 'paths' | 'diffs', boolean>>;
  hasDiff: boolean;
  exitCode: number | null;
};

export function cutOff(tool: AgentTool): AgentTool {
  return isToolOver(tool) ? tool : { ...tool, status: 'cut-off' };
}

/** It has ended, in whatever way. */
export function isToolOver({ status }: AgentTool): boolean {
  return status !== 'pending' && status !== 'in_progress';
}

/** `folder` is the one in which the agent works. */
export function toolOf(update: Fields, before: AgentTool | undefined, folder: string | null): AgentTool {
  const diffs = listAt(update, 'content')
    .map((one) => asFields(one) ?? {})
    .filter((one) => one['type'] === 'diff');
  const reported = [...listAt(update, 'locations'), ...diffs].flatMap(
    (one) => textAt(asFields(one) ?? {}, 'path') ?? [],
  );
  const paths = reported.length === 0 ? (before?.paths ?? []) : [...new Set(reported)];
  const exit = objectAt(objectAt(update, '_meta'), 'terminal_exit');
  const title = textAt(update, 'title');
  const command = commandIn(update) ?? before?.command ?? null;
  const kind = textAt(update, 'kind') ?? before?.kind ?? 'other';
  const shown = [title ?? before?.title, command, folder, ...paths];
  const isDiff = kind === 'edit' && (diffs.length > 0 || before?.hasDiff === true);
  const input =
    update['rawInput'] === undefined
      ? before?.input
      : [command ?? [], otherInput(update['rawInput'], shown, isDiff) ?? []].flat().join('\n') || null;
  return {
    id: before?.id ?? textAt(update, 'toolCallId') ?? '',
    title: title === undefined ? (before?.title ?? 'a tool') : shownWhole(title),
    isNamed: before?.isNamed === true || saysWhat(update),
    kind,
    status: toolStatusIn(update['status']) ?? before?.status ?? 'pending',
    paths: paths.slice(0, MOST_PATHS),
    command: command === null ? null : shownWhole(command),
    input: input === undefined || input === null ? null : shownWhole(input),
    cut: {
      title: title === undefined ? before?.cut.title === true : title.length > MOST_INPUT,
      input:
        update['rawInput'] === undefined ? before?.cut.input === true : (input ?? '').length > MOST_INPUT,
      paths: reported.length === 0 ? before?.cut.paths === true : paths.length > MOST_PATHS,
      diffs:
        diffs.length === 0 ? before?.cut.diffs === true : diffs.length > MOST_DIFFS || diffs.some(isLongDiff),
    },
    hasDiff: before?.hasDiff === true || diffs.length > 0,
    exitCode: numberAt(exit, 'exit_code') ?? before?.exitCode ?? null,
  };
}

export function isLongDiff(diff: Fields): boolean {
  return ['oldText', 'newText'].some((side) => (textAt(diff, side) ?? '').length > LONGEST_DIFF);
}

/** Whether a person can be shown everything that they would allow. */
export function isCut({ cut }: AgentTool): boolean {
  return Object.values(cut).includes(true);
}

/** What agents call the content of an edit, which its diffs show. */
const ofEdit = /^(old|new|content|diff|patch|edits|changes|file|path|replace_?all)/i;

/** As JSON; undefined if there is nothing else. */
function otherInput(
  input: unknown,
  shown: readonly (string | null | undefined)[],
  isDiff: boolean,
): string | undefined {
  const isShown = (value: unknown): boolean =>
    Array.isArray(value)
      ? value.every(isShown)
      : value === null || value === '' || shown.includes(value as string);
  const fields = asFields(input);
  if (fields === undefined) return isShown(input) ? undefined : JSON.stringify(input);
  const { command: _, description: __, ...rest } = fields;
  const others = Object.entries(rest).filter(
    ([name, value]) => !isShown(value) && !(isDiff && ofEdit.test(name)),
  );
  return others.length === 0 ? undefined : JSON.stringify(Object.fromEntries(others));
}

function saysWhat(update: Fields): boolean {
  const hasInput = Object.keys(objectAt(update, 'rawInput')).length > 0;
  return hasInput || update['status'] === 'in_progress' || listAt(update, 'locations').length > 0;
}

/** Some agents report its arguments as a list. */
function commandIn(update: Fields): string | undefined {
  const input = objectAt(update, 'rawInput');
  const { command } = input;
  if (Array.isArray(command)) return command.length === 0 ? undefined : command.map(wordOf).join(' ');
  return typeof command === 'object' && command !== null ? JSON.stringify(command) : textAt(input, 'command');
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
