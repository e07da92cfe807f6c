// The API client for the daemon that served this page.
import { createClient } from '@svc/client';

export { ApiFailure } from '@svc/client';

export const client = createClient('', { headers: keyHeader });

// The access key of this page, if the daemon requires one. `svc open` puts a one-time code into the URL's `#` part and
// the page exchanges it for the key. It is stored per origin including the port, which a cookie would not be.

const NAME = 'svc.key';
let key: string | null = null;

/** The header for every request; empty without a key. */
function keyHeader(): Record<string, string> {
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** Called before the first request. If the code is rejected, the page keeps the key it had. */
export async function enter(): Promise<void> {
  const code = /^#enter=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    history.replaceState(null, '', location.pathname + location.search);
    const traded = await createClient('')
      .post('/api/access/key', { body: { code } })
      .catch(() => undefined);
    if (traded !== undefined) localStorage.setItem(NAME, traded.key);
  }
  key = localStorage.getItem(NAME);
}
