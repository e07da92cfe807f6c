// findings: the queue. add_finding: adds one. Both use the queue of the folder that the server was started in.
import { z } from 'zod';
import { counted, plainText } from '../../cli/kit/text.ts';
import { readOnly, tool } from '../../cli/kit/tool.ts';
import { addFinding, findingRow, readFindings, shownFinding } from './verbs/findings.ts';

const severities = ['low', 'medium', 'high'] as const;

export const findingsTool = tool({
  name: 'findings',
  title: 'Queued findings',
  description:
    'The findings in the queue of this project, oldest first. They are filed as tickets when the run ends.',
  scope: 'read',
  hints: readOnly,
  input: z.strictObject({}),
  output: z.looseObject({ file: z.string(), findings: z.array(z.looseObject({ key: z.string() })) }),
  async call(_given, { terminal }) {
    const { file, lines } = await readFindings(terminal);
    return {
      structured: { file, findings: lines.map(shownFinding) },
      text: `${counted(lines.length, 'queued finding')}.`,
      outside: lines.map((line) => findingRow(line).join('  ')),
    };
  },
});

export const addFindingTool = tool({
  name: 'add_finding',
  title: 'Add a finding',
  description:
    'Queues an improvement that you found during the run; it is filed as a ticket when the run ends. Works without the daemon.',
  scope: 'findings',
  hints: { readOnly: false, destructive: false, idempotent: false },
  input: z.strictObject({
    title: z.string().trim().min(1).max(500).describe('one line'),
    body: z.string().max(60_000).describe('what you found'),
    skill: z.string().max(120).default('').describe('the skill that found it; becomes a label'),
    severity: z.enum(severities).default('low'),
    tags: z.array(z.string().min(1).max(100)).max(20).default([]),
  }),
  output: z.looseObject({ ok: z.boolean(), file: z.string() }),
  async call(given, { terminal }) {
    const file = await addFinding(terminal, given);
    return { structured: { ok: true, file }, text: `The finding was added to ${plainText(file)}.` };
  },
});
