// The conditions of the events verbs: the same options everywhere, checked before anything is asked.

import { Option } from '@commander-js/extra-typings';
import { type EventFilter, parseSince, type Since, topicsOfGlob } from '@svc/core';
import { Failure } from '../errors.ts';

type ConditionOptions = {
  event?: string;
  ticket?: string;
  repo?: string;
  pr?: string;
  since?: string;
};

type ConditionQuery = { event?: string; ticket?: string; repo?: string; pr?: string };

export type Conditions = {
  filter: EventFilter;
  since: Since | undefined;
  /** The same as a query of the daemon's routes. */
  query: ConditionQuery;
};

export function conditionOptions(): Option[] {
  return [
    new Option('--event <glob>', 'topic, * stands for anything: codehost.pr.*'),
    new Option('--ticket <id>', 'events of this ticket'),
    new Option('--repo <owner/repo>', 'events of this repository'),
    new Option('--pr <number>', 'events of this pull request'),
    new Option('--since <point>', 'after a seq, or from an ISO time or a duration ago (15m) on'),
  ];
}

/** Reads the options of `conditionOptions` from all that a verb was given. */
export function readConditions(given: object, now: number): Conditions {
  const options: ConditionOptions = given;
  const query: ConditionQuery = {};
  const filter: EventFilter = {};
  if (options.event !== undefined) {
    const answer = topicsOfGlob(options.event);
    if (!answer.ok) throw new Failure('usage', answer.message);
    filter.topics = answer.topics;
    query.event = options.event;
  }
  if (options.ticket !== undefined) query.ticket = filter.ticket = options.ticket.toUpperCase();
  if (options.repo !== undefined) query.repo = filter.repo = options.repo;
  if (options.pr !== undefined) {
    filter.pr = Number(options.pr);
    if (!/^[1-9]\d{0,8}$/.test(options.pr))
      throw new Failure('usage', `--pr: expected a number, found ${options.pr}.`);
    query.pr = options.pr;
  }
  const since = options.since === undefined ? undefined : parseSince(options.since, now);
  if (options.since !== undefined && since === undefined) {
    throw new Failure(
      'usage',
      `--since: expected a seq, an ISO time or a duration like 15m, found ${options.since}.`,
    );
  }
  return { filter, since, query };
}

/** How a point is written in a query. */
export function pointText(since: Since): string {
  return 'seq' in since ? String(since.seq) : new Date(since.time).toISOString();
}
