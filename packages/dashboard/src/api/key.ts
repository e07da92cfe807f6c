// The key of this page, where the daemon asks for one. `svc open` puts a code behind the `#` of the address; the page
// trades it for the key. It is kept for this origin, the port included, which a cookie would not be.
import { createClient } from '@svc/client';

const NAME = 'svc.key';
let key: string | null = null;

/** The header of every request; none where there is no key. */
export function keyHeader(): Record<string, string> {
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** Before the first request. A code that does not count leaves the page with the key it had; the daemon judges that. */
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
