// svc.1: the manual page, made from the program itself. Pure: a description goes in, roff comes out.
import type { DescribedOption, DescribedVerb } from '../describe-program.ts';
import { exitCodes } from './exit-codes.ts';
import { bold, entry, paragraph, roff, section, subsection, synopsis, verbatim } from './roff.ts';
import type { Variable } from './variables.ts';

export type ManPage = { program: DescribedVerb; version: string; variables: readonly Variable[] };

export function manPage({ program, version, variables }: ManPage): string {
  const { name, verbs } = program;
  const groups = verbs.filter((verb) => verb.verbs.length > 0);
  const single = verbs.filter((verb) => verb.verbs.length === 0);
  const lines = [
    // No date: the same source makes the same page.
    `.TH ${name.toUpperCase()} 1 "" "${roff(`${name} ${version}`)}" "User Commands"`,
    '.\\" Words are neither stretched nor cut: commands are pasted from here.',
    '.ad l',
    '.nr HY 0',
    '.nh',
    section('Name'),
    `${name} \\- ${roff(withoutDot(program.summary))}`,
    section('Synopsis'),
    synopsis(`${name} <verb> [options] [arguments]`),
    ...paragraph(synopsis(`${name} [--version] [--help]`)),
    section('Description'),
    roff(program.summary),
    ...about.flatMap((text) => paragraph(roff(text))),
    section('Verbs'),
    ...single.flatMap(verbLines),
    ...groups.flatMap((group) => [
      section(`${group.name} verbs`),
      ...groupHead(group),
      ...withVerbsBelow(group).flatMap(verbLines),
    ]),
    section('Exit status'),
    ...exitCodes.flatMap(([code, meaning]) => entry(bold(String(code)), meaning)),
    section('Environment'),
    ...variables.flatMap(({ name: variable, meaning }) => entry(bold(variable), meaning)),
    section('Files'),
    ...files.flatMap(([file, meaning]) => entry(`\\fI${roff(file)}\\fR`, meaning)),
    section('See also'),
    ['git', 'gh', 'jq'].map((other) => `${bold(other)}(1)`).join(', '),
  ];
  return `${lines.join('\n')}\n`;
}

const about = [
  'Everything that happens becomes a line of an event log: deliveries of the code host and the tracker, polls, signal files, deadlines and people’s words. The daemon writes the log and folds the board from it. Most verbs ask the daemon by a route on loopback, which is named with the verb.',
  'Every verb has --help, which prints what stands here. With --json a verb prints JSON to standard output; messages go to standard error.',
];

const files: readonly (readonly [file: string, meaning: string])[] = [
  ['.svc/config.json', 'The project file; committed.'],
  ['~/.config/svc/config.json', 'The global file; never committed, mode 600.'],
  ['~/.config/svc/config-<projectKey>.json', 'The secrets file of a project; never committed, mode 600.'],
  ['~/.config/svc/webhook-secret', 'The secret that signs deliveries of the code host; mode 600.'],
  ['~/svc/events/YYYY-MM.jsonl', 'The event log, a file for each month; written by the daemon alone.'],
  ['~/svc/svc.db', 'The index of the log and the outbox.'],
  ['~/svc/runs/<run>/workers/<ticket>.json', 'The signal file of a worker.'],
  ['~/svc/archives/<run>/', 'Archived runs.'],
];

/** A group that is itself a verb (svc attention) has more to say than its summary. */
function groupHead(group: DescribedVerb): string[] {
  return withoutHelp(group).length === 0 && group.route === null
    ? [roff(sentence(group.summary))]
    : verbLines(group);
}

/** All verbs below a group; groups in it only hold others. */
function withVerbsBelow({ verbs }: DescribedVerb): DescribedVerb[] {
  return verbs.flatMap((verb) => (verb.verbs.length > 0 ? withVerbsBelow(verb) : [verb]));
}

function verbLines(verb: DescribedVerb): string[] {
  const { path, usage, summary, arguments: all, examples, route, notes } = verb;
  return [
    subsection(['svc', ...path].join(' ')),
    synopsis(usage),
    ...paragraph(roff(sentence(summary))),
    ...all
      .filter(({ description }) => description !== '')
      .flatMap(({ placeholder, description }) => entry(`\\fI${roff(placeholder)}\\fR`, description)),
    ...withoutHelp(verb).flatMap((option) => entry(synopsis(option.flags), optionMeaning(option))),
    ...notes.flatMap(noteLines),
    ...verbatim(examples.map((example) => `$ ${example}`)),
    ...(route === null ? [] : paragraph(`Route: ${roff(route)}`)),
  ];
}

function withoutHelp({ options }: DescribedVerb): DescribedOption[] {
  return options.filter(({ long }) => long !== '--help');
}

function optionMeaning({ description, value, mandatory, default: fallback }: DescribedOption): string {
  const more = [
    ...(mandatory ? ['required'] : []),
    ...(value !== null && value.choices.length > 0 ? [`one of ${value.choices.join(', ')}`] : []),
    ...(fallback === null ? [] : [`default: ${fallback}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join('; ')})`;
}

/** Indented lines are tables and commands and stay as they are; the others are sentences. */
function noteLines(note: string): string[] {
  const lines: string[] = [];
  let kept: string[] = [];
  const flush = (): void => {
    lines.push(...verbatim(kept));
    kept = [];
  };
  for (const line of note.split('\n')) {
    if (line.startsWith(' ')) kept.push(line.slice(2));
    else {
      flush();
      if (line !== '') lines.push(...paragraph(roff(line)));
    }
  }
  flush();
  return lines;
}

function sentence(text: string): string {
  return `${withoutDot(text)}.`;
}

function withoutDot(text: string): string {
  return text.replace(/\.$/, '');
}
