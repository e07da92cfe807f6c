import type { EventLine } from '@svc/core';
import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../api/client.ts';
import { useLiveBoard, useNow } from '../../live/live.tsx';
import { Empty } from '../../parts/states.tsx';
import { clockWords } from '../../parts/time-words.ts';
import type { Tab } from './inbox.ts';

const words: Record<Exclude<Tab, 'waiting'>, { title: string; text: string }> = {
  taken: {
    title: 'Nobody has taken anything.',
    text: 'What you acknowledge or hand over stands here until its cause is gone.',
  },
  snoozed: { title: 'Nothing sleeps.', text: 'What you snooze stands here until its time.' },
};

export function NothingHere({ tab }: { tab: Tab }) {
  if (tab === 'waiting') return <NothingWaits />;
  return (
    <Empty title={words[tab].title}>
      <p>{words[tab].text}</p>
    </Empty>
  );
}

/** Since the last word on an item: then the last one that waited was answered or its cause went away. */
function NothingWaits() {
  const now = useNow();
  const { attention } = useLiveBoard();
  const { data } = useQuery({
    queryKey: ['attention-quiet', attention],
    queryFn: ({ signal }) =>
      getJson<{ events: EventLine[] }>('/api/events?event=comms.attention_*&limit=1', signal),
  });
  const last = data?.events[0]?.ts;
  return (
    <Empty title="Nothing needs you.">
      <p>
        {last === undefined
          ? 'Nothing ever did on this machine.'
          : `Since ${clockWords(Date.parse(last), now)}.`}{' '}
        What fails, stalls or asks shows up here by itself, with the command that mends it.
      </p>
    </Empty>
  );
}
