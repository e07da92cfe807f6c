// Why the relay could not be reached, in words; and what to do, where a person can do something.
import type { Refusal } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import type { ReadKey } from './provision-channel.ts';

export type Failure = { why: string; remedy?: string; refusal?: Refusal };

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
  403: { why: 'the relay refuses the channel (403)', remedy: channelIsGone, refusal: 'channel' },
  404: { why: 'the relay does not know the channel (404)', remedy: channelIsGone, refusal: 'channel' },
  410: { why: 'the channel is gone (410)', remedy: channelIsGone, refusal: 'channel' },
  429: { why: 'the relay has too much to do, or the channel too many readers (429)' },
};

/** `key` is what was sent along with the question, if the channel may have one. */
export function wordsForStatus(status: number, key?: ReadKey): Failure {
  const isSent = key?.value !== undefined;
  if (status === 401 || (status === 403 && isSent)) return wordsForReadKey(status, key);
  return byStatus[status] ?? { why: `the relay answered ${status}` };
}

function wordsForReadKey(status: number, key: ReadKey | undefined): Failure {
  const variable = key?.variable ?? 'its variable';
  const file = key === undefined ? 'its file' : `the file ${key.fileName} beside the global configuration`;
  const where = `Put the channel's read key into ${variable}, or into ${file} (mode 600)`;
  const restart = 'and run: svc-monitor.sh restart';
  if (key?.value === undefined)
    return {
      why: `the relay wants a read key (${status}), and ${variable} is not set`,
      remedy: `${where}, ${restart}`,
      refusal: 'read-key',
    };
  return {
    why: `the relay does not accept the read key in ${variable} (${status})`,
    remedy: `${where}, ${restart}; if it is lost, make a new channel: setup-webhooks.sh --force`,
    refusal: 'read-key',
  };
}
