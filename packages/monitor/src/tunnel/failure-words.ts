// Why the relay could not be reached, in words; and what to do, where a person can do something.
import { systemErrorCode } from '../errors.ts';

export type Failure = { why: string; remedy?: string };

const byCode: Readonly<Record<string, Failure>> = {
  ENOTFOUND: {
    why: "the relay's name is not known (DNS)",
    remedy: 'Check the network and the channel: svc config',
  },
  EAI_AGAIN: { why: 'no name server answers (DNS)', remedy: 'Check the network' },
  ECONNREFUSED: { why: 'the relay refuses connections' },
  ECONNRESET: { why: 'the connection was reset' },
  EPIPE: { why: 'the connection was reset' },
  ETIMEDOUT: { why: 'the relay does not answer' },
  EHOSTUNREACH: { why: 'there is no way to the relay', remedy: 'Check the network' },
  ENETUNREACH: { why: 'there is no network', remedy: 'Check the network' },
  ENETDOWN: { why: 'there is no network', remedy: 'Check the network' },
};

const trust = 'Check the date of this machine, and NODE_EXTRA_CA_CERTS if a proxy signs for the relay';

export function wordsForError(error: unknown): Failure {
  const code = systemErrorCode(error) ?? '';
  const known = byCode[code];
  if (known !== undefined) return known;
  if (/CERT|SIGNED|SSL|TLS|ALTNAME|UNABLE_TO/.test(code))
    return { why: `the relay's certificate is not trusted (${code})`, remedy: trust };
  if (code !== '') return { why: `the connection failed (${code})` };
  return { why: `the connection failed: ${error instanceof Error ? error.message : 'for no known reason'}` };
}

const channelIsGone = 'Check the channel: svc config, or make a new one: setup-webhooks.sh --force';
const byStatus: Readonly<Record<number, Failure>> = {
  401: { why: 'the relay wants a read key (401)', remedy: 'Check the read key of the channel' },
  403: { why: 'the relay refuses the channel (403)', remedy: channelIsGone },
  404: { why: 'the relay does not know the channel (404)', remedy: channelIsGone },
  410: { why: 'the channel is gone (410)', remedy: channelIsGone },
  429: { why: 'the relay has too much to do (429)' },
};

export function wordsForStatus(status: number): Failure {
  return byStatus[status] ?? { why: `the relay answered ${status}` };
}
