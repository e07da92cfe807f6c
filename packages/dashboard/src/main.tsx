import './design/theme.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Tooltip } from 'radix-ui';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure, enter } from './api/client.ts';
import { applyTheme } from './design/theme.ts';
import { LiveProvider, startLive } from './live/live.tsx';
import { router } from './routes.tsx';

applyTheme();
await enter();
const live = startLive();
// The screen is loaded while the first board is on its way.
void router.load();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A refused request would be refused again; retry only requests that got no answer.
      retry: (times, error) =>
        times < 3 && !(error instanceof ApiFailure && error.status >= 400 && error.status < 500),
      staleTime: 5_000,
    },
  },
});

const root = document.getElementById('app');
if (root === null) throw new Error('index.html has no #app');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <LiveProvider live={live}>
        <Tooltip.Provider>
          <RouterProvider router={router} />
        </Tooltip.Provider>
      </LiveProvider>
    </QueryClientProvider>
  </StrictMode>,
);
