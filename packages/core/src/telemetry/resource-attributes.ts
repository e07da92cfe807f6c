// What a session's telemetry says of where it comes from: the same rule for worker sessions, for a person's shell
// and for the daemon's spans. Names are those of the specification; a value that is not known has no attribute.
import { ticketNamed } from '../receive/ticket-name.ts';

const LONGEST_ATTRIBUTE = 255;

export type ResourceFacts = {
  project: string | null;
  hostname: string;
  branch: string | null;
  /** The workflow context's `currentTicket`, for a branch that names none. */
  ticket: string | null;
  /** `svc.project.ticketPrefix` of the projects. */
  ticketPrefixes: readonly string[];
  /** The name of the run, which groups the orchestrator and its workers. */
  orchestration: string | null;
};

/** `resourceAttributes({ branch: 'kim/eng-12-login', … })` has `ticket.key` `ENG-12`. */
export function resourceAttributes(facts: ResourceFacts): Record<string, string> {
  const { branch, ticketPrefixes } = facts;
  return known({
    project: facts.project,
    hostname: facts.hostname,
    'git.branch': branch,
    'ticket.key': ticketNamed(branch ?? undefined, undefined, ticketPrefixes) ?? facts.ticket,
    'svc.orchestration': facts.orchestration,
  });
}

/** The same names for a span about one line of the log: the daemon's work is for many branches and tickets. */
export function scopeAttributes(scope: {
  branch?: string | undefined;
  ticket?: string | undefined;
  orchestrator?: string | undefined;
}): Record<string, string> {
  return known({
    'git.branch': scope.branch,
    'ticket.key': scope.ticket,
    'svc.orchestration': scope.orchestrator,
  });
}

/** The value of `OTEL_RESOURCE_ATTRIBUTES`: `project=web,hostname=mini,git.branch=kim%2Feng-1,…` */
export function formatAttributes(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join(',');
}

/** A pair that cannot be read is left out: telemetry is no reason to fail. */
export function readAttributes(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const equals = pair.indexOf('=');
    const name = decoded(pair.slice(0, Math.max(equals, 0)).trim());
    const value = decoded(pair.slice(equals + 1).trim());
    if (name !== undefined && name !== '' && value !== undefined) attributes[name] = value;
  }
  return attributes;
}

function known(values: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '')
      attributes[name] = value.slice(0, LONGEST_ATTRIBUTE).toWellFormed();
  }
  return attributes;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
