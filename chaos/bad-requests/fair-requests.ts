// Valid requests, or almost: they have to be accepted. Without them a receiver that rejects everything would pass.
import { requestBytes } from '../../packages/testkit/src/wire/exchange.ts';
import { apart, type Kind, kind, whole, withHeaders } from './bad-request.ts';

const chunk = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

export const fairRequests: Kind[] = [
  kind('good', 12, (source) => ({ ...whole(source.good(), 200), replay: false })),
  kind('good, tracker', 3, (source) => whole(source.goodTracker(), 200)),
  kind('good, real names', 2, (source) => {
    const draft = source.good();
    const headers = draft.headers.map(
      ([name, value]) => [name.replace('Codehost', 'GitHub'), value] as const,
    );
    return whole({ ...draft, headers }, 200);
  }),
  kind('replay of an accepted delivery', 6, (source) => source.replay()),
  kind('good, in slow pieces', 1, (source) => {
    const draft = source.good();
    const bytes = requestBytes(draft);
    const size = Math.ceil(bytes.length / 5);
    const pieces = Array.from({ length: 5 }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    return apart(draft, { pieces, pauseMs: source.random.below(15) }, 200);
  }),
  kind('good, half-closed after the last byte', 1, (source) => {
    const draft = source.good();
    // Node treats the end of our half as the end of both: the line is written, the answer may be lost.
    return apart(draft, { pieces: [requestBytes(draft)], after: 'end' }, 200, 'closed');
  }),
  kind('good, chunked', 2, (source) => {
    const draft = source.good();
    const { body: _body, ...head } = withHeaders(draft, {
      'Content-Length': undefined,
      'Transfer-Encoding': 'chunked',
    });
    const middle = source.random.below(draft.body.length - 2) + 1;
    const parts = [draft.body.subarray(0, middle), draft.body.subarray(middle), Buffer.alloc(0)];
    return apart(draft, { pieces: [requestBytes(head), ...parts.map(chunk)] }, 200);
  }),
  kind('good, no event header', 1, (source) =>
    whole(withHeaders(source.good(), { 'X-Codehost-Event': undefined }), 200),
  ),
  kind('good, type outside the ten', 1, (source) =>
    whole(withHeaders(source.good(), { 'X-Codehost-Event': 'some_new_type' }), 200),
  ),
  kind('good, as a form', 1, (source) => {
    const form = new URLSearchParams({ payload: source.good().body.toString() }).toString();
    return whole(source.signed(form, { 'Content-Type': 'application/x-www-form-urlencoded' }), 200);
  }),
  kind('good, with Expect', 1, (source) =>
    whole(withHeaders(source.good(), { Expect: '100-continue' }), 200),
  ),
  kind('good, own Origin', 1, (source) => {
    const draft = source.good();
    const host = draft.headers.find(([name]) => name === 'Host')?.[1] ?? '';
    return whole(withHeaders(draft, { Origin: `http://${host}` }), 200);
  }),
];
