// Reads what `gh api --include` prints: the status line, headers, an empty line, the body; with `--paginate`
// one such block per page, whose body `--jq` has turned into one line of JSON per item.
import type { CodehostAnswer } from '@svc/core';

const statusLine = /^HTTP\/\d(?:\.\d)? (\d{3})/;

/** The one answer; undefined when there is none, because no connection came about. */
export function readAnswer(output: string, receivedAt: number): CodehostAnswer | undefined {
  const head = /^HTTP\/[^\n]*\n(?:[^\r\n]+\r?\n)*\r?\n/.exec(output)?.[0];
  if (head === undefined) return undefined;
  return answerFrom(head.split('\n'), output.slice(head.length), receivedAt);
}

/** The answers of all pages, in order. No line of JSON can look like a status line. */
export function readPages(output: string, receivedAt: number): CodehostAnswer[] {
  const pages: CodehostAnswer[] = [];
  let head: string[] = [];
  let items: string[] = [];
  let inHead = false;
  const finish = (): void => {
    if (head.length > 0) pages.push(answerFrom(head, items.join('\n'), receivedAt));
  };
  for (const line of output.split('\n')) {
    if (statusLine.test(line)) {
      finish();
      [head, items, inHead] = [[line], [], true];
    } else if (inHead) {
      if (line.trim() === '') inHead = false;
      else head.push(line);
    } else if (line.trim() !== '') items.push(line);
  }
  finish();
  return pages;
}

function answerFrom(head: readonly string[], body: string, receivedAt: number): CodehostAnswer {
  const headers = new Map<string, string>();
  for (const line of head.slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const status = Number(statusLine.exec(head[0] ?? '')?.[1] ?? 0);
  return { status, header: (name) => headers.get(name), body, receivedAt };
}

/** Where the Link header says that the next page is. */
export function nextPage({ header }: Pick<CodehostAnswer, 'header'>): URL | undefined {
  const [, address] = /<([^>]+)>\s*;\s*rel="next"/.exec(header('link') ?? '') ?? [];
  return address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
}
