// The command line of an agent, from the template in `svc.orchestration.agent`. Variables are put into the
// elements of the list as values. No shell ever sees them, so that a ticket or a branch can never be a command.

export type AgentVariables = {
  /** The worker command and its ticket: `/svc-dev:oneshot ENG-12`. */
  PROMPT: string;
  MODEL: string;
  TICKET_ID: string;
  BRANCH_NAME: string;
  WORKTREE_PATH: string;
};

const names = ['PROMPT', 'MODEL', 'TICKET_ID', 'BRANCH_NAME', 'WORKTREE_PATH'] as const;
const variable = /\$\{([^}]*)(\}?)/g;
const MOST_ELEMENTS = 200;
/** Well below what systems allow for one argument. */
const LONGEST_ARGUMENT = 100_000;

export type FilledTemplate =
  | { ok: true; argv: [program: string, ...args: string[]] }
  | { ok: false; problems: string[] };

/** `agentPrompt('/svc-dev:oneshot', 'ENG-12')`; `inboxFile` only when something was told to the worker. */
export function agentPrompt(workerCommand: string, ticket: string, inboxFile?: string): string {
  const prompt = `${workerCommand} ${ticket}`;
  if (inboxFile === undefined) return prompt;
  return `${prompt} The work was begun before. First do what the messages ask for, the newest above all, one JSON object in each line of ${inboxFile}`;
}

/** What is wrong with a template, whatever the values: found before a worktree is made. */
export function agentTemplateProblems(template: readonly string[]): string[] {
  if (template.length === 0 || template[0] === '') return ['The agent template names no program.'];
  if (template.length > MOST_ELEMENTS)
    return [`The agent template has ${template.length} elements; at most ${MOST_ELEMENTS} are allowed.`];
  return template.flatMap((element, index) =>
    [...element.matchAll(variable)].flatMap(([text, name = '', end]) => {
      if (end === '') return [`Element ${index} of the agent template has a \${ without its }.`];
      if (isName(name)) return [];
      const known = names.map((one) => `\${${one}}`).join(' ');
      return [`Element ${index} of the agent template has the unknown variable ${text}; known are ${known}.`];
    }),
  );
}

/** Each variable is replaced once: a value that looks like a variable stays as it is. */
export function fillAgentTemplate(template: readonly string[], values: AgentVariables): FilledTemplate {
  const problems = agentTemplateProblems(template);
  if (problems.length > 0) return { ok: false, problems };
  const [program = '', ...args] = template.map((element) =>
    element.replaceAll(variable, (text, name: string) => (isName(name) ? values[name] : text)),
  );
  for (const [index, argument] of [program, ...args].entries()) {
    if (argument.includes('\0')) problems.push(`Element ${index} of the agent command has a zero character.`);
    if (argument.length > LONGEST_ARGUMENT)
      problems.push(`Element ${index} of the agent command is longer than ${LONGEST_ARGUMENT} characters.`);
  }
  if (program === '') problems.push('The agent command names no program.');
  return problems.length > 0 ? { ok: false, problems } : { ok: true, argv: [program, ...args] };
}

function isName(name: string): name is keyof AgentVariables {
  return (names as readonly string[]).includes(name);
}
