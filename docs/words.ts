// Finds words that we do not use, because an ordinary one says it better (AGENTS.md, "Words"). `npm run words` prints each
// place with its file and line, `npm run words -- packages/monitor` those of a folder. A line that needs such a word (a
// vendor's sentence, a name in the specification) is in docs/words-allowed.txt as `path: part of the line`; an entry
// that fits no line is an error, so that the list stays short.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const own = ['docs/words.ts', 'docs/words.test.ts', 'docs/words-allowed.txt'];
const checked = /\.(ts|tsx|js|md|sh|css|html|py|txt|yml|yaml|svg)$|^\.ci\/|^bin\//;

/** What is not written, and what is written instead. */
const unwanted: [RegExp, string][] = [
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\banew\b/i, 'again'],
  [/\bof now\b/i, 'current, live'],
  [/\bfor ever\b/i, 'forever, without a limit'],
  [/\b(come|comes|came) that far\b/i, 'caught up'],
  [/\b(gone by|at hand)\b/i, 'past, available'],
  [/\btold\b|\btells\b(?! you\b)/i, 'reported, returned, shown'],
  [/\b(house|houses|rooms?|floors?)\b(?<!Math\.floor)/i, 'codebase, module, layer, space'],
  [/\bwhoever\b/i, 'the caller, the user, anyone who'],
  [/[’'`]s (own |last )?words?\b|\blast word\b|\bsay the word\b/i, 'decision, action, update, latest value'],
  [/(?<!TEST_)\bpatience\b/i, 'timeout'],
  [/(?:^|\s)(?:\/\/|\/\*\*|\*) Of \b/, 'the noun itself'],
];

/** The `.sh` names stay as commands; what is read by people names the verbs. */
const shellName =
  /\b(?:add-finding|check-project-setup|feedback-consent|resolve-(?:linear|tracker)-ids|setup-webhooks|svc-monitor|workflow-context)\.sh\b/;
const isForPeople =
  /^(?:README\.md|docs\/(?:guide|relay)\/.+\.md|examples\/.+|packages\/[^/]+\/src\/(?!.*(?:\.test\.|\/testing\/)).+\.(?:tsx?|txt))$/;
/** Code whose texts are shown on screens or printed. */
const isShown =
  /^packages\/(?:contract|dashboard|demo|lib|monitor)\/src\/(?!.*(?:\.test\.|\/testing\/)).+\.tsx?$/;
/** A string, a text between tags, or a line that is only text between tags. */
const shownText =
  /'[^']*'|"[^"]*"|`[^`]*`|>[^<>{}=;()]+[<{]|^\s+[\w’]+(?:[,.:]? [\w’]+){2,}[.,:]?(?:\{' '\})?$/g;
/** Not a field, a path, a program's option or verb, or the setting `workerCommand`. */
const fieldName = /(?<![\w/.:{$-]|svc )(?:workers?(?! command)|pr-created|deploy-failed)(?![\w/:(-]|\.\w)/i;
const comment = /^\s*(?:\/\/|\/?\*)/;

export type Hit = { file: string; line: number; text: string; instead: string };

/** A text for people has several words, or begins with a capital letter: a value of a field does not. */
function hasFieldName(line: string): boolean {
  const texts = (line.match(shownText) ?? []).map((text) => text.replaceAll(/\$\{[^}]*\}/g, '0'));
  return texts.some((text) => /^\W?[A-Z]|\w,? \w/.test(text.trim()) && fieldName.test(text));
}

export function findWords(file: string, text: string): Hit[] {
  return text.split('\n').flatMap((line, index) => {
    const isShell = isForPeople.test(file) && !comment.test(line) && shellName.test(line);
    const isField = isShown.test(file) && !comment.test(line) && hasFieldName(line);
    const found = isShell
      ? ([shellName, 'the verb of svc (svc monitor, svc setup-webhooks, …)'] as const)
      : isField
        ? ([fieldName, 'agent or ticket; the words of a status (shownStatus)'] as const)
        : unwanted.find(([pattern]) => pattern.test(line));
    return found === undefined ? [] : [{ file, line: index + 1, text: line.trim(), instead: found[1] }];
  });
}

/** The hits that no entry covers, and the entries that cover none. */
export function withoutAllowed(hits: Hit[], entries: string[]): { left: Hit[]; useless: string[] } {
  const covers = (entry: string, { file, text }: Hit) => {
    const [path = '', ...part] = entry.split(': ');
    return file === path && part.length > 0 && text.includes(part.join(': '));
  };
  return {
    left: hits.filter((hit) => !entries.some((entry) => covers(entry, hit))),
    useless: entries.filter((entry) => !hits.some((hit) => covers(entry, hit))),
  };
}

if (import.meta.main) {
  const folders = process.argv.slice(2);
  const listed = execFileSync('git', ['ls-files', '--', ...folders], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const files = listed.split('\n').filter((file) => checked.test(file) && !own.includes(file));
  const hits = files.flatMap((file) => findWords(file, readFileSync(join(root, file), 'utf8')));
  const entries = readFileSync(join(root, 'docs', 'words-allowed.txt'), 'utf8')
    .split('\n')
    .filter((entry) => entry !== '' && !entry.startsWith('#'));
  const { left, useless } = withoutAllowed(hits, entries);
  for (const { file, line, text, instead } of left)
    console.error(`${file}:${line}: ${text}\n  instead: ${instead}`);
  if (folders.length === 0)
    for (const entry of useless) console.error(`docs/words-allowed.txt: fits no line: ${entry}`);
  console.log(`${files.length} files, ${left.length} lines with a word that we do not use`);
  if (left.length > 0 || (folders.length === 0 && useless.length > 0)) process.exitCode = 1;
}
