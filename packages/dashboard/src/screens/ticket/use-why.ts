import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';

/** Why the ticket is in its state; asked once, however many parts of the screen want it. */
export function useWhy(ticket: string, run: string | undefined) {
  return useQuery({
    queryKey: ['ticket', ticket, 'why', run],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/why', {
        params: { ticket },
        query: { orchestrator: run },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}
