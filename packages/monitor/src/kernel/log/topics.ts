// The closed list of topics. Identifiers are fields of a line, never part of its topic, so the list is complete and a
// filter on a topic that does not exist can be refused. Each feature adds its topics to `TopicDetails` by declaration
// merging, and their schemas in a table; `features/topics.ts` joins the tables.
import { nearest } from '@svc/lib/nearest';
import type { z } from 'zod';

/**
 * The detail of each topic.
 * @public
 */
export interface TopicDetails {}

/** What a feature adds: `interface TopicDetails extends DetailsIn<typeof ruleTopics> {}` */
export type DetailsIn<Schemas extends TopicSchemas> = { [Name in keyof Schemas]: z.infer<Schemas[Name]> };

type TopicSchemas = Readonly<Record<string, z.ZodObject>>;

export type Topic = keyof TopicDetails;

/** The detail of events with a topic. */
export type DetailOf<Name extends Topic> = TopicDetails[Name];

export type TopicTable = {
  names: readonly Topic[];
  has: (text: string) => text is Topic;
  schemaOf: (topic: Topic) => z.ZodObject;
  /** The topics that a glob matches; with none, waiting for it would never end. */
  matching: (glob: string) => Topic[];
  /** The topic that was probably meant, if the text is only a typo away from one. */
  suggest: (text: string) => Topic | undefined;
};

export function createTopicTable(schemas: { readonly [Name in Topic]: z.ZodObject }): TopicTable {
  const has = (text: string): text is Topic => Object.hasOwn(schemas, text);
  const names = Object.keys(schemas).filter(has);
  return {
    names,
    has,
    schemaOf: (topic) => schemas[topic],
    matching: (glob) => names.filter((topic) => matchesGlob(glob, topic)),
    suggest(text) {
      const suggestion = nearest(text, names);
      return suggestion !== undefined && has(suggestion) ? suggestion : undefined;
    },
  };
}

/**
 * Whether a topic matches a glob, in which `*` stands for any characters, including dots.
 * Takes linear time for any glob, which a regular expression would not.
 * `matchesGlob('codehost.pr.*', 'codehost.pr.merged')`
 */
export function matchesGlob(glob: string, topic: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let resume = 0;
  while (at < topic.length) {
    if (glob[inGlob] === '*') {
      star = inGlob;
      inGlob += 1;
      resume = at;
    } else if (glob[inGlob] === topic[at]) {
      inGlob += 1;
      at += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      inGlob = star + 1;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob += 1;
  return inGlob === glob.length;
}
