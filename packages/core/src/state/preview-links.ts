// Links of a comment that lead to a preview: the link's own words, the text right before it, or the address
// say so. Links to the code host itself are never previews.
const MOST_TEXT = 20_000;
const MOST_LINKS = 10;
const LONGEST_LINK = 500;
const address = /https?:\/\/[^\s<>()[\]"'`|\\]{1,500}/g;
const says = /preview/i;
const label = /\[([^[\]\n]{0,200})\]\(\s*$/;

/** `previewLinksIn('[Visit Preview](https://web-42.example.app)')` */
export function previewLinksIn(text: string, pullRequestUrl?: string): string[] {
  if (!says.test(text)) return [];
  const codehost = hostOf(pullRequestUrl ?? '');
  const links = new Set<string>();
  for (const line of text.slice(0, MOST_TEXT).split('\n')) {
    let from = 0;
    for (const { 0: found, index } of line.matchAll(address)) {
      const link = found.replace(/[.,;:!?*_]+$/, '').slice(0, LONGEST_LINK);
      const before = line.slice(from, index);
      from = index + found.length;
      const words = label.exec(before)?.[1] ?? before;
      const host = hostOf(link);
      if (host === undefined || host === codehost || !(says.test(words) || says.test(link))) continue;
      links.add(link);
      if (links.size === MOST_LINKS) return [...links];
    }
  }
  return [...links];
}

function hostOf(link: string): string | undefined {
  return /^https?:\/\/([^/?#]+)/.exec(link)?.[1]?.toLowerCase();
}
