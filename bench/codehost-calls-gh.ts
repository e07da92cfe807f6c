// Replaces the program `gh` where ten thousand processes would take too long: it takes the same arguments, makes the
// same requests and prints the same answers. `codehost-calls.ts` compares the counts of both.
import { readFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { RunCommand } from '@svc/lib/process';
import { nextPage } from '../packages/monitor/src/features/codehost/gh.ts';

type Answer = { status: number; head: string; body: string; next: URL | undefined };

export function createGhStandIn(): { run: RunCommand; close: () => void } {
  const agent = new Agent({ keepAlive: true });
  const authorities = new Map<string, Buffer>();

  const authority = (file: string): Buffer => {
    const known = authorities.get(file) ?? readFileSync(file);
    authorities.set(file, known);
    return known;
  };

  const run: RunCommand = async ({ args, input, environment }) => {
    const { GH_HOST: host = '', GH_ENTERPRISE_TOKEN: token = '', SSL_CERT_FILE: file = '' } = environment;
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        include: { type: 'boolean' },
        method: { type: 'string', short: 'X' },
        paginate: { type: 'boolean' },
        jq: { type: 'string' },
        input: { type: 'string' },
      },
    });
    const [, path = ''] = positionals;
    const options = {
      agent,
      ca: authority(file),
      method: values.method ?? 'POST',
      headers: { Authorization: `token ${token}` },
    };
    const first = new URL(path === 'graphql' ? '/api/graphql' : `/api/v3/${path}`, `https://${host}`);
    let stdout = '';
    for (let url: URL | undefined = first; url !== undefined; ) {
      const { status, head, body, next } = await ask(url, options, values.input === '-' ? input : undefined);
      const isList = values.jq !== undefined && status < 400;
      stdout += `${head}\n${isList ? itemsOf(body) : body}`;
      if (status >= 400) return { ended: 'exit', exitCode: 1, stdout, stderr: `gh: HTTP ${status}` };
      url = values.paginate === true ? next : undefined;
    }
    return { ended: 'exit', exitCode: 0, stdout, stderr: '' };
  };
  return { run, close: () => agent.destroy() };
}

function ask(url: URL, options: RequestOptions, body: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (response) => {
      const { statusCode: status = 0, statusMessage, headers } = response;
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\n`);
      const head = `HTTP/1.1 ${status} ${statusMessage}\n${lines.join('')}`;
      const { link } = headers;
      const header = (name: string): string | undefined => (name === 'link' ? String(link ?? '') : undefined);
      text(response).then(
        (read) => resolve({ status, head, body: read, next: nextPage({ header }) }),
        reject,
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** In the format of its `--jq`: one line of JSON per item. */
function itemsOf(body: string): string {
  const items = JSON.parse(body) as unknown[];
  return items.map((item) => `${JSON.stringify(item)}\n`).join('');
}
