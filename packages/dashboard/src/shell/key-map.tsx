// Every key, on one page.
import { Dialog } from 'radix-ui';
import { places } from './places.ts';

const groups: { title: string; keys: [keys: string[], what: string][] }[] = [
  {
    title: 'Everywhere',
    keys: [
      [['Ctrl', 'K'], 'Search and commands'],
      [['?'], 'This list'],
      ...places.map(({ key, name }): [string[], string] => [['g', key], name]),
    ],
  },
  {
    title: 'Lists',
    keys: [
      [['j'], 'Next'],
      [['k'], 'Previous'],
      [['Enter'], 'Open'],
    ],
  },
  {
    title: 'Attention',
    keys: [
      [['e'], 'Acknowledge'],
      [['s'], 'Snooze'],
      [['h'], 'Hand over'],
      [['r'], 'Resolve'],
    ],
  },
  {
    title: 'Time',
    keys: [
      [['←'], 'A step back, on the bar'],
      [['→'], 'A step forward'],
      [['End'], 'Now'],
    ],
  },
];

export function KeyMap({ onClose }: { onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 max-h-[85dvh] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-card border border-line bg-raised p-5 shadow-float outline-none"
        >
          <Dialog.Title className="mb-4 text-lead">Keys</Dialog.Title>
          <div className="gap-x-8 wide:columns-2">
            {groups.map(({ title, keys }) => (
              <section key={title} className="mb-5 break-inside-avoid">
                <h3 className="mb-1 text-small">{title}</h3>
                <dl className="text-small">
                  {keys.map(([names, what]) => (
                    <div key={what} className="flex items-center justify-between gap-4 py-1">
                      <dt className="order-2 flex shrink-0 gap-1">
                        {names.map((name) => (
                          <kbd
                            key={name}
                            className="min-w-6 rounded-control border border-line bg-sunken px-1.5 text-center text-tiny text-text"
                          >
                            {name}
                          </kbd>
                        ))}
                      </dt>
                      <dd className="text-muted">{what}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
          <p className="text-tiny text-muted">Keys do nothing while a field has the focus. Escape closes.</p>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
