// The client program of the demo's code host: the few `gh` commands that the daemon runs, answered by codehost.ts on
// this machine. It is in the demo's own folder for programs, so the user's login is never used.
import { text } from 'node:stream/consumers';

const words = process.argv.slice(2);
const host = process.env['GH_HOST'] ?? '';

if (words[0] === 'api') await api(words.slice(1));
else if (words[0] === 'auth') process.stdout.write(`Logged in to ${host} account demo\n`);
else {
  process.stderr.write(`The demo's gh does not support: ${words[0] ?? '(no command)'}\n`);
  process.exitCode = 1;
}

async function api(given: readonly string[]): Promise<void> {
  const after = (name: string): string | undefined =>
    given.includes(name) ? given[given.indexOf(name) + 1] : undefined;
  const isGraphql = given.includes('graphql');
  const method = isGraphql ? 'POST' : (after('-X') ?? 'GET');
  const path = isGraphql ? 'graphql' : (given[given.indexOf('-X') + 2] ?? '');
  const body = after('--input') === '-' ? await text(process.stdin) : undefined;
  const response = await fetch(`http://${host}/${path}`, { method, ...(body !== undefined && { body }) });
  const answer: unknown = await response.json();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\n`);
  process.stdout.write(`HTTP/1.1 ${response.status} ${response.statusText}\n${headers.join('')}\n`);
  const isListed = given.includes('--paginate') && Array.isArray(answer);
  const printed = isListed
    ? answer.map((item) => `${JSON.stringify(item)}\n`).join('')
    : JSON.stringify(answer);
  process.stdout.write(printed);
  if (!response.ok) process.exitCode = 1;
}
