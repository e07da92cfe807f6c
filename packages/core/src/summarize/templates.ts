// What a model is asked to write. Each template is an instruction; what it is about follows as data.

const instructions = {
  'run-summary': [
    'Summarize the run for the person who is responsible for it.',
    'Say first whether the run is on course and what needs that person now; then what is done, what is under way, and what is blocked and by what.',
    'Name tickets by their names. At most 200 words, plain sentences, no headings.',
  ],
  'attention-digest': [
    'Write a digest of what needs a person, the most urgent first.',
    'For each item say what happened, what follows from it, and the remedy that the item names. When nothing needs a person, say so in one sentence.',
    'At most 200 words. Never invent a remedy.',
  ],
  'worker-status': [
    'Say for each worker, in one or two sentences, what it is doing, since when, and what it waits for.',
    'Group workers that wait for the same thing. Name every ticket that is given.',
    'At most 300 words.',
  ],
} as const satisfies Record<string, readonly string[]>;

export type SummaryTemplate = keyof typeof instructions;

export const summaryTemplates: readonly SummaryTemplate[] = [
  'run-summary',
  'attention-digest',
  'worker-status',
];

export function isSummaryTemplate(name: string): name is SummaryTemplate {
  return Object.hasOwn(instructions, name);
}

export function instructionsOf(template: SummaryTemplate): string {
  return instructions[template].join('\n');
}
