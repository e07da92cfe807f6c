// A notification as JSON to a URL of the person's choice. A receiver that knows the key takes it once.
import type { Deliver } from './delivery.ts';
import { type Post, post } from './post.ts';

export function createWebhookNotifier(url: string, means: Parameters<typeof post>[1]): Deliver {
  return ({ effect: { key, attention, reason, severity }, title, message, remedy, text }) => {
    const body = {
      // Chat services read this field, and `<!channel>` or a link in it as a command.
      text: `${title}\n${text}`.replaceAll('<', '‹').replaceAll('>', '›'),
      reason,
      severity,
      message,
      remedy,
      attention,
    };
    const request: Post = {
      url,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': headerSafe(key) },
      body: JSON.stringify(body),
    };
    return post(request, means);
  };
}

/** Keys hold names of tickets and runs, which may be written in any alphabet; a header may not. */
function headerSafe(key: string): string {
  return encodeURI(key.toWellFormed());
}
