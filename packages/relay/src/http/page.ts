// The page for a person who opens a channel's address in a browser: what it is for and how to use it. It shows no
// deliveries, so there is nothing to reflect, and no key is ever typed into a page.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

const style = `:root{color-scheme:light dark}
body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:12vh auto;padding:0 1.5rem;color:#24292f;background:#fdfdfc}
h1{font-size:1.3rem;font-weight:600}h2{font-size:1rem;font-weight:600;margin-top:2rem}
code,pre{font:14px/1.5 ui-monospace,monospace}pre{padding:.75rem 1rem;border-radius:6px;background:#f1f2f0;overflow-x:auto}
p.quiet{color:#667}
@media (prefers-color-scheme:dark){body{color:#d7dadc;background:#16181a}pre{background:#212427}p.quiet{color:#98a0a6}}`;

const styleHash = createHash('sha256').update(style).digest('base64');

const headers: readonly string[] = [
  'Content-Type',
  'text/html; charset=utf-8',
  'Content-Security-Policy',
  `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy',
  'no-referrer',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'X-Robots-Tag',
  'noindex',
  'Cache-Control',
  'no-store',
];

export function answerChannelPage(response: ServerResponse, channelUrl: string, needsKey: boolean): void {
  const url = escaped(channelUrl);
  const key = needsKey ? ` \\\n  -H "Authorization: Bearer $READ_KEY"` : '';
  const reading = needsKey
    ? 'Reading needs the read key that was given when the channel was made.'
    : 'This channel is open: anyone with its address can read it.';
  answerPage(
    response,
    200,
    'A channel',
    `<p>Deliveries that are posted to this address are kept, and streamed to its subscribers in order.</p>
<h2>Send</h2>
<pre>curl -X POST ${url} \\
  -H "Content-Type: application/json" -d '{"hello":"world"}'</pre>
<h2>Read</h2>
<p>${reading}</p>
<pre>curl -N ${url}?since=oldest \\
  -H "Accept: text/event-stream"${key}</pre>
<p class="quiet">Keep this address secret: anyone who has it can send to the channel.</p>`,
  );
}

export function answerUnknownPage(response: ServerResponse): void {
  answerPage(
    response,
    404,
    'No such channel',
    `<p>There is nothing at this address. A channel is made with <code>POST /new</code>.</p>`,
  );
}

function answerPage(response: ServerResponse, status: number, title: string, content: string): void {
  if (response.destroyed) return;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style>${style}</style></head>
<body><h1>${title}</h1>
${content}
</body></html>
`;
  response.writeHead(status, [...headers, 'Content-Length', String(Buffer.byteLength(html))]);
  response.end(response.req.method === 'HEAD' ? undefined : html);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
