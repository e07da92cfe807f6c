// The fake model of a journey. What it has to do is one random word in the text of the ticket, and it knows that word only
// from the prompt that it was sent. It then does what a coding agent does: it writes the word into a file, commits, pushes
// and opens a pull request with gh, each with the agent's own tool for commands.
import { randomInt } from 'node:crypto';
import { type Asked, startStreamingModels } from '../../packages/testkit/src/models/streaming-models.ts';
import { running } from '../agent-suite/replies.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const CLEAN_FIRST = 'Clean up before.';
export const FILE = 'word.txt';
/** In the text of every ticket, and in nothing else that a model is sent. */
const MARKER = `The file ${FILE} should have one line.`;
export const UNWANTED = 'touch unwanted';
/** How many commands a ticket needs. */
export const COMMANDS = 3;

export function randomWord(): string {
  return Array.from({ length: 12 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** The text of a ticket. Only here the model can learn the word. `unwanted`: it first tries something to be rejected. */
export function taskText(word: string, { unwanted = false } = {}): string {
  return `${MARKER} The word is: ${word}.${unwanted ? ` ${CLEAN_FIRST}` : ''}`;
}

/** `sabotage`: the word is lost on the way to the model. */
export async function startModel({ sabotage }: { sabotage: boolean }) {
  const firstAt = new Map<string, number>();
  let withoutWord = 0;
  const { url, close } = await startStreamingModels(MARKER, ({ prompt, results, tools, hasKey }: Asked) => {
    if (!hasKey) return { status: 401 };
    const text = sabotage ? prompt.replaceAll(/The word is: [a-z]+/g, '') : prompt;
    const [, ticket = ''] = /ticket:? ([A-Z]+-\d+)/.exec(text) ?? [];
    const [, word] = /The word is: ([a-z]+)/.exec(text) ?? [];
    if (!firstAt.has(ticket)) firstAt.set(ticket, performance.now());
    if (word === undefined) {
      withoutWord += 1;
      return { text: 'The ticket does not say which word.' };
    }
    const commands = [...(text.includes(CLEAN_FIRST) ? [UNWANTED] : []), ...commandsFor(ticket, word)];
    const command = commands[results];
    return command === undefined ? { text: 'It is done.' } : { tool: running(tools, command) };
  });
  return {
    url,
    close,
    /** How often it could do nothing, because the word did not reach it. */
    withoutWord: (): number => withoutWord,
    /** When it was first asked to work on the ticket, by `performance.now()`. */
    firstAskedAbout: (ticket: string): number | undefined => firstAt.get(ticket),
  };
}

/** Each is asked for at the person. */
function commandsFor(ticket: string, word: string): readonly string[] {
  return [
    `svc ticket phase inProgress; echo ${word} > ${FILE} && git add ${FILE} && git commit -qm '${ticket}: Write the word'`,
    'git push -q --set-upstream origin HEAD',
    `gh pr create --title '${ticket}: Write the word' --body 'As the ticket says.' && svc ticket phase inReview; true`,
  ];
}
