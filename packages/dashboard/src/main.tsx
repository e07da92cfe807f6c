import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Tooltip } from 'radix-ui';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from './api/client.ts';
import { enter } from './api/key.ts';
import './design/theme.css';
import { applyTheme } from './design/theme.ts';
import { LiveProvider, startLive } from './live/live.tsx';
import { router } from './routes.tsx';

applyTheme();
await enter();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What the daemon refused it will refuse again; what it did not answer is tried again.
      retry: (times, error) =>
        times < 3 && !(error instanceof ApiFailure && error.status >= 400 && error.status < 500),
      staleTime: 5_000,
    },
  },
});

const place = document.getElementById('app');
if (place === null) throw new Error('index.html has no #app');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <LiveProvider live={startLive()}>
        <Tooltip.Provider>
          <RouterProvider router={router} />
        </Tooltip.Provider>
      </LiveProvider>
    </QueryClientProvider>
  </StrictMode>,
);
