// `svc complete -- <words>`, as the completion scripts call it. The user waits at each call, so no other verb is loaded, and
// the client of the daemon only when needed. The last of the words is being typed.
import { homedir } from 'node:os';
import { answerCompletion, readVocabulary } from './answer.ts';

const given = process.argv.slice(3);
const words = given[0] === '--' ? given.slice(1) : given;
const lines = await answerCompletion(words, await readVocabulary(), async (kind) => {
  const { namesHere } = await import('./ask-daemon.ts');
  return namesHere(process.env, homedir(), kind, (problem) => process.stderr.write(`${problem}\n`));
});
process.stdout.write(`${lines.join('\n')}\n`);
