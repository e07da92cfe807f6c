// A notification to an ntfy topic: the text is the body, the rest stands in headers.
import type { Deliver } from './delivery.ts';
import { post } from './post.ts';

const looks: Readonly<Record<string, { priority: string; tag: string }>> = {
  low: { priority: '2', tag: 'information_source' },
  medium: { priority: '3', tag: 'warning' },
  high: { priority: '5', tag: 'rotating_light' },
};
const unknownLook = { priority: '3', tag: 'warning' };

export function createNtfyNotifier(url: string, means: Parameters<typeof post>[1]): Deliver {
  return ({ effect: { severity }, title, text }) => {
    const { priority, tag } = (Object.hasOwn(looks, severity) && looks[severity]) || unknownLook;
    const headers = {
      'Content-Type': 'text/plain; charset=utf-8',
      Title: asciiOnly(title),
      Priority: priority,
      Tags: tag,
    };
    return post({ url, headers, body: text }, means);
  };
}

/** A header holds nothing else safely. */
function asciiOnly(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, '?');
}
