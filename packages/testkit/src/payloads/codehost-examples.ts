// Payloads of the code host: the published examples of the ten subscribed types, and variants of them for
// what the published ones do not show. Read when first asked for: the file is 4 MB.
import { createRequire } from 'node:module';
import { codehostEventTypes } from '@svc/core';
import { codehostVariants } from './codehost-variants.ts';
import type { Example, JsonObject } from './example.ts';

type PublishedType = { name: string; examples: JsonObject[] };

const require = createRequire(import.meta.url);
let published: Example[] | undefined;

/** Every published example of every type, also of those that are not subscribed. */
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

/** The one payload of that name, such as `pull_request merged` or `deployment_status failure`. */
export function codehostExample(name: string): Example {
  const found = codehostExamples().find((example) => example.name === name);
  if (found === undefined) throw new Error(`There is no code-host example named ${name}`);
  return found;
}

function readPublished(): Example[] {
  const types: PublishedType[] = require('@octokit/webhooks-examples');
  return types.flatMap(({ name, examples }) =>
    examples.map((payload, index) => ({ name: `${name} #${index + 1}`, type: name, payload })),
  );
}
