// findings: what waits to be filed. add_finding: one more. Both use the queue of the folder the server was started in.
import { z } from 'zod';
import { counted, plainText } from '../../text.ts';
import { addFinding } from '../../verbs/add-finding.ts';
import { findingRow, readFindings, shownFinding } from '../../verbs/findings.ts';
import { looksOnly, tool } from '../tool.ts';

const severities = ['low', 'medium', 'high'] as const;

export const findingsTool = tool({
  name: 'findings',
  title: 'Findings that wait to be filed',
  description:
    'The findings in the queue of this project, oldest first. They are filed as tickets at run end.',
  scope: 'read',
  hints: looksOnly,
  input: z.strictObject({}),
  output: z.looseObject({ file: z.string(), findings: z.array(z.looseObject({ key: z.string() })) }),
  async call(_given, { terminal }) {
    const { file, lines } = await readFindings(terminal);
    return {
      structured: { file, findings: lines.map(shownFinding) },
      text: `${counted(lines.length, 'waiting finding')}.`,
      outside: lines.map((line) => findingRow(line).join('  ')),
    };
  },
});

export const addFindingTool = tool({
  name: 'add_finding',
  title: 'Add a finding',
  description:
    'Notes an improvement that was seen during the run; it is filed as a ticket at run end. Works without the daemon.',
  scope: 'findings',
  hints: { readOnly: false, destructive: false, idempotent: false },
  input: z.strictObject({
    title: z.string().trim().min(1).max(500).describe('one line'),
    body: z.string().max(60_000).describe('what was seen'),
    skill: z.string().max(120).default('').describe('the skill that found it; becomes a label'),
    severity: z.enum(severities).default('low'),
    tags: z.array(z.string().min(1).max(100)).max(20).default([]),
  }),
  output: z.looseObject({ ok: z.boolean(), file: z.string() }),
  async call(given, { terminal }) {
    const file = await addFinding(terminal, given);
    return { structured: { ok: true, file }, text: `The finding is noted in ${plainText(file)}.` };
  },
});
