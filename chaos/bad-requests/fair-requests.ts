// Nothing is wrong with these, or not enough: they have to be accepted. Without them a receiver that
// refuses everything would pass.

import { requestBytes } from '../../packages/testkit/src/wire/request-bytes.ts';
import { apart, type Kind, whole, withHeaders } from './bad-request.ts';

const chunk = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

export const fairRequests: Kind[] = [
  { name: 'good', weight: 12, make: (source) => ({ ...whole(source.good(), 200), replay: false }) },
  { name: 'good, tracker', weight: 3, make: (source) => whole(source.goodTracker(), 200) },
  {
    name: 'good, real names',
    weight: 2,
    make(source) {
      const draft = source.good();
      const headers = draft.headers.map(
        ([name, value]) => [name.replace('Codehost', 'GitHub'), value] as const,
      );
      return whole({ ...draft, headers }, 200);
    },
  },
  {
    name: 'replay of an accepted delivery',
    weight: 6,
    make: (source) => source.replay(),
  },
  {
    name: 'good, in slow pieces',
    weight: 1,
    make(source) {
      const draft = source.good();
      const bytes = requestBytes(draft);
      const size = Math.ceil(bytes.length / 5);
      const pieces = Array.from({ length: 5 }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
      return apart(draft, { pieces, pauseMs: source.random.below(15) }, 200);
    },
  },
  {
    name: 'good, half-closed after the last byte',
    weight: 1,
    make(source) {
      const draft = source.good();
      // Node takes the end of our half for the end of both: the line is written, the answer may be lost.
      return apart(draft, { pieces: [requestBytes(draft)], after: 'end' }, 200, 'closed');
    },
  },
  {
    name: 'good, chunked',
    weight: 2,
    make(source) {
      const draft = source.good();
      const { body: _body, ...head } = withHeaders(draft, {
        'Content-Length': undefined,
        'Transfer-Encoding': 'chunked',
      });
      const middle = source.random.below(draft.body.length - 2) + 1;
      const parts = [draft.body.subarray(0, middle), draft.body.subarray(middle), Buffer.alloc(0)];
      return apart(draft, { pieces: [requestBytes(head), ...parts.map(chunk)] }, 200);
    },
  },
  {
    name: 'good, no event header',
    weight: 1,
    make: (source) => whole(withHeaders(source.good(), { 'X-Codehost-Event': undefined }), 200),
  },
  {
    name: 'good, type outside the ten',
    weight: 1,
    make: (source) => whole(withHeaders(source.good(), { 'X-Codehost-Event': 'some_new_type' }), 200),
  },
  {
    name: 'good, as a form',
    weight: 1,
    make(source) {
      const form = new URLSearchParams({ payload: source.good().body.toString() }).toString();
      return whole(source.signed(form, { 'Content-Type': 'application/x-www-form-urlencoded' }), 200);
    },
  },
  {
    name: 'good, with Expect',
    weight: 1,
    make: (source) => whole(withHeaders(source.good(), { Expect: '100-continue' }), 200),
  },
  {
    name: 'good, own Origin',
    weight: 1,
    make(source) {
      const draft = source.good();
      const host = draft.headers.find(([name]) => name === 'Host')?.[1] ?? '';
      return whole(withHeaders(draft, { Origin: `http://${host}` }), 200);
    },
  },
];
