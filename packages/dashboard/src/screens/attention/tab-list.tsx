import { Tabs } from 'radix-ui';
import { classNames } from '../../parts/class-names.ts';
import { useMatchesNarrow } from '../../parts/narrow.ts';
import { type Tab, tabs } from './inbox.ts';

const names: Record<Tab, { long: string; short: string }> = {
  waiting: { long: 'Waiting for you', short: 'Waiting' },
  taken: { long: 'Acknowledged, handed over', short: 'Taken' },
  snoozed: { long: 'Snoozed', short: 'Snoozed' },
};

export function TabList({ counts }: { counts: Record<Tab, number> }) {
  const length = useMatchesNarrow() ? 'short' : 'long';
  return (
    <Tabs.List aria-label="Attention" className="mb-4 flex gap-1 border-line border-b">
      {tabs.map((tab) => (
        <Tabs.Trigger
          key={tab}
          value={tab}
          className="-mb-px flex h-9 items-center gap-2 border-transparent border-b-2 px-2.5 text-small font-medium whitespace-nowrap text-muted -outline-offset-2 hover:text-ink data-[state=active]:border-ink data-[state=active]:text-ink max-wide:h-11"
        >
          {names[tab][length]}
          <span
            className={classNames(
              'rounded-full px-1.5 text-tiny',
              tab === 'waiting' && counts[tab] > 0 ? 'bg-you-soft text-you' : 'bg-sunken text-muted',
            )}
          >
            {counts[tab]}
          </span>
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}
