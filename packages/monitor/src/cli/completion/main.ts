// `svc complete -- <words>`, as the completion scripts call it. A person waits at each call, so that nothing of the
// other verbs is loaded, and what asks the daemon only where it is asked. The last word is the one being typed.
import { homedir } from 'node:os';
import { answerCompletion, readVocabulary } from './answer.ts';

const given = process.argv.slice(3);
const words = given[0] === '--' ? given.slice(1) : given;
const lines = await answerCompletion(words, await readVocabulary(), async (kind) => {
  const { namesHere } = await import('./ask-daemon.ts');
  return namesHere(process.env, homedir(), kind, (problem) => process.stderr.write(`${problem}\n`));
});
process.stdout.write(`${lines.join('\n')}\n`);
