// The detail of events about findings.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { Severity } from '../attention/severity.ts';

const FindingDetail = Detail.extend({
  title: z.string(),
  severity: Severity.optional(),
  skill: text,
  tags: z.array(z.string()).optional(),
});

const FindingFiledDetail = FindingDetail.extend({
  destination: z.enum(['tracker', 'codehost']),
  filedAs: text.describe('ticket id or issue number'),
  url: text,
});

const DrainDetail = Detail.extend({ file: text, filed: z.int().nonnegative(), failed: count });

export const findingTopics = {
  ...topicFamily('feedback', ['finding_added'], FindingDetail),
  ...topicFamily('feedback', ['finding_filed'], FindingFiledDetail),
  ...topicFamily('feedback', ['drained'], DrainDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof findingTopics> {}
}
