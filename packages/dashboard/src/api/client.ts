// The API client for the daemon that served this page.
import { createClient } from '@svc/client';
import { keyHeader } from './key.ts';

export { ApiFailure } from '@svc/client';

export const client = createClient('', { headers: keyHeader });
