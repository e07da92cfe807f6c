// Where a session's telemetry comes from: the same attributes for worker sessions and for a person's shell. Names are
// those of the specification; an unknown value has no attribute.
import { ticketNamed } from '../receive/map-codehost.ts';

const LONGEST_ATTRIBUTE = 255;

export type ResourceFacts = {
  project: string | null;
  hostname: string;
  branch: string | null;
  /** The workflow context's `currentTicket`, for a branch without a ticket. */
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

/** The value of `OTEL_RESOURCE_ATTRIBUTES`: `project=web,hostname=mini,git.branch=kim%2Feng-1,…` */
export function formatAttributes(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join(',');
}

function known(values: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '')
      attributes[name] = value.slice(0, LONGEST_ATTRIBUTE).toWellFormed();
  }
  return attributes;
}
