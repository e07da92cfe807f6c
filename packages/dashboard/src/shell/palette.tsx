// Search and commands: every screen, ticket, run, pull request and attention item, and actions that work anywhere.
import { useLocation, useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Check, Copy, History, type LucideIcon, Moon, Sun, SunMoon } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useEffect, useMemo, useState } from 'react';
import { chooseTheme, type ThemeChoice, themeChoice } from '../design/theme.ts';
import { useBoard, useLiveBoard } from '../live/live.tsx';
import { timeOfMoment } from '../live/moment.ts';
import { OutsideText } from '../parts/outside.tsx';
import { linkTo } from './link-to.ts';
import { found, type PaletteEntry, paletteEntries } from './palette-entries.ts';

type Action = { name: string; icon: LucideIcon; act: () => void | Promise<void> };

/** `typedBefore` returns, once, what was typed before the palette had loaded. */
export function Palette({ typedBefore, onClose }: { typedBefore: () => string; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [message, setMessage] = useState('');
  const [selected, setSelected] = useState('');
  useEffect(() => {
    const early = typedBefore();
    if (early !== '') setTyped((later) => early + later);
  }, [typedBefore]);
  const board = useLiveBoard();
  const navigate = useNavigate();
  const actions = useActions(setMessage);
  const entries = useMemo(() => paletteEntries(board), [board]);
  const groups = useMemo(() => found(entries, typed), [entries, typed]);
  // The best match is selected at once: Enter after a quickly typed name must not open another one.
  const best = [...groups.values()][0]?.[0]?.id;
  useEffect(() => setSelected(best ?? ''), [best]);
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const offered = actions.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const open = ({ to, search }: PaletteEntry): void => {
    onClose();
    void navigate({ to, search });
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12dvh] left-1/2 z-50 w-[min(38rem,calc(100vw-2rem))] -translate-x-1/2 overflow-hidden rounded-card border border-line bg-raised shadow-float outline-none max-wide:top-4"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command
            shouldFilter={false}
            loop
            label="Search and commands"
            value={selected}
            onValueChange={setSelected}
          >
            <Command.Input
              value={typed}
              onValueChange={setTyped}
              placeholder="Go to a ticket, run, pull request or screen"
              className="h-12 w-full border-line border-b bg-transparent px-4 text-body text-ink outline-none placeholder:text-muted"
            />
            <Command.List className="max-h-[min(26rem,60dvh)] overflow-y-auto p-2">
              <Command.Empty className="p-3 text-small text-muted">
                No results. Finished runs are in the archive.
              </Command.Empty>
              {[...groups].map(([group, items]) => (
                <Group key={group} heading={group}>
                  {items.map((entry) => (
                    <Item key={entry.id} value={entry.id} onSelect={() => open(entry)}>
                      <OutsideText className="min-w-0 shrink-0 max-w-[70%] truncate font-medium text-ink">
                        {entry.name}
                      </OutsideText>
                      <OutsideText className="min-w-0 truncate text-muted">{entry.note}</OutsideText>
                    </Item>
                  ))}
                </Group>
              ))}
              {offered.length > 0 && (
                <Group heading="Actions">
                  {offered.map(({ name, icon: Icon, act }) => (
                    <Item
                      key={name}
                      value={`action ${name}`}
                      onSelect={() => {
                        void Promise.resolve(act()).then(() => setTimeout(onClose, 400));
                      }}
                    >
                      <Icon aria-hidden="true" className="size-4 text-muted" />
                      <span className="font-medium text-ink">{name}</span>
                    </Item>
                  ))}
                </Group>
              )}
            </Command.List>
            <p
              role="status"
              className="flex items-center gap-3 border-line border-t px-4 py-2 text-tiny text-muted"
            >
              {message === '' ? (
                <>
                  <span>↑ ↓ select</span>
                  <span>Enter open</span>
                  <span>Esc close</span>
                </>
              ) : (
                <span className="flex items-center gap-1.5 text-ink">
                  <Check aria-hidden="true" className="size-3.5" />
                  {message}
                </span>
              )}
            </p>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Group({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-tiny [&_[cmdk-group-heading]]:text-muted"
    >
      {children}
    </Command.Group>
  );
}

function Item({
  value,
  onSelect,
  children,
}: {
  value: string;
  onSelect: () => void;
  children: React.ReactNode;
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-9 cursor-default items-center gap-3 rounded-control px-2 text-small data-[selected=true]:bg-sunken max-wide:h-11"
    >
      {children}
    </Command.Item>
  );
}

function useActions(report: (words: string) => void): Action[] {
  const { board, moment } = useBoard();
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const theme = (choice: ThemeChoice, name: string, icon: LucideIcon): Action => ({
    name,
    icon,
    act: () => {
      chooseTheme(choice);
      report(`${name}: done`);
    },
  });
  const themes = [
    theme('light', 'Use light theme', Sun),
    theme('dark', 'Use dark theme', Moon),
    theme('system', 'Use system theme', SunMoon),
  ].filter((_, index) => (['light', 'dark', 'system'] as const)[index] !== themeChoice());
  const link = linkTo(pathname, search, timeOfMoment(moment, board.at));
  return [
    ...(moment === null
      ? []
      : [
          {
            name: 'Back to live',
            icon: History,
            act: () => void navigate({ to: '.', search: (before) => ({ ...before, at: undefined }) }),
          },
        ]),
    {
      name: 'Copy link to this screen',
      icon: Copy,
      act: () =>
        navigator.clipboard.writeText(link).then(
          () => report('Link copied'),
          () => report(`The browser blocked copying. Link: ${link}`),
        ),
    },
    ...themes,
  ];
}
