import type { Why } from '@svc/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getJson, path } from '../../api/client.ts';

/** Why the ticket is in its state; asked once, however many parts of the screen want it. */
export function useWhy(ticket: string, run: string | undefined) {
  return useQuery({
    queryKey: ['ticket', ticket, 'why', run],
    queryFn: ({ signal }) =>
      getJson<Why>(path(`/api/workers/${encodeURIComponent(ticket)}/why`, { orchestrator: run }), signal),
    placeholderData: keepPreviousData,
  });
}
