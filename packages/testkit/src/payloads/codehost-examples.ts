// Payloads of the code host: the published examples of the ten subscribed types, and variants for what those do not
// show. Loaded on first use: the file is 4 MB.
import { createRequire } from 'node:module';
import { codehostEventTypes } from '@svc/core';
import { codehostVariants } from './codehost-variants.ts';
import type { Example, JsonObject } from './example.ts';

type PublishedType = { name: string; examples: JsonObject[] };

const require = createRequire(import.meta.url);
let published: Example[] | undefined;

/** Every published example of every type, even of types that are not subscribed. */
export function publishedExamples(): readonly Example[] {
  published ??= readPublished();
  return published;
}

/** All payloads of the ten subscribed types: published ones and variants. */
export function codehostExamples(): Example[] {
  const ten: readonly string[] = codehostEventTypes;
  const ofTheTen = publishedExamples().filter(({ type }) => ten.includes(type));
  return [...ofTheTen, ...codehostVariants(ofTheTen)];
}

/** The payload of that name, such as `pull_request merged` or `deployment_status failure`. */
export function codehostExample(name: string): Example {
  const found = codehostExamples().find((example) => example.name === name);
  if (found === undefined) throw new Error(`no code-host example named ${name}`);
  return found;
}

function readPublished(): Example[] {
  const types: PublishedType[] = require('@octokit/webhooks-examples');
  return types.flatMap(({ name, examples }) =>
    examples.map((payload, index) => ({ name: `${name} #${index + 1}`, type: name, payload })),
  );
}
