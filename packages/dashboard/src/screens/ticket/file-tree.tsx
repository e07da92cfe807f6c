// The tree of the changed files. A folder with one entry is drawn with it.
import { FileDiff, Folder } from 'lucide-react';
import type { WorktreeChanges } from 'svc-monitor/src/features/agents/api.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { classNames } from '../../parts/class-names.ts';
import { LineCounts } from '../../parts/diff-box.tsx';

type ChangedFile = WorktreeChanges['files'][number];
export type Tree = { name: string; folders: Map<string, Tree>; files: ChangedFile[] };

export function treeOf(files: readonly ChangedFile[]): Tree {
  const root: Tree = { name: '', folders: new Map(), files: [] };
  for (const file of files) {
    let at = root;
    for (const name of file.path.split('/').slice(0, -1)) {
      const next = at.folders.get(name) ?? { name, folders: new Map(), files: [] };
      at.folders.set(name, next);
      at = next;
    }
    at.files.push(file);
  }
  return short(root);
}

function short(tree: Tree): Tree {
  const folders = [...tree.folders.values()].map((folder) => {
    let one = short(folder);
    const [only] = one.folders.values();
    if (one.files.length === 0 && one.folders.size === 1 && only !== undefined)
      one = { ...only, name: `${one.name}/${only.name}` };
    return one;
  });
  return { ...tree, folders: new Map(folders.map((folder) => [folder.name, folder])) };
}

/** The list has the files in the order of the tree. */
export function inOrder({ folders, files }: Tree): ChangedFile[] {
  return [...[...folders.values()].flatMap(inOrder), ...files];
}

export function FileTree({
  tree,
  current,
  onSelect,
}: {
  tree: Tree;
  current: string | null;
  onSelect: (path: string) => void;
}) {
  return (
    <nav
      aria-label="Changed files"
      className="max-h-[max(24rem,72dvh)] w-64 shrink-0 overflow-y-auto border-line border-r py-2 max-wide:max-h-48 max-wide:w-full max-wide:border-r-0 max-wide:border-b"
    >
      <Branch tree={tree} depth={0} current={current} onSelect={onSelect} />
    </nav>
  );
}

function Branch({
  tree,
  depth,
  current,
  onSelect,
}: {
  tree: Tree;
  depth: number;
  current: string | null;
  onSelect: (path: string) => void;
}) {
  const style = { paddingLeft: `${0.75 + depth * 0.75}rem` };
  return (
    <ul>
      {[...tree.folders.values()].map((folder) => (
        <li key={folder.name}>
          <p className="flex items-center gap-1.5 py-1 pr-2 text-muted text-tiny" style={style}>
            <Folder aria-hidden="true" className="size-3.5 shrink-0" />
            <span className="from-outside min-w-0 truncate" title={shownText(folder.name)}>
              {shownText(folder.name)}
            </span>
          </p>
          <Branch tree={folder} depth={depth + 1} current={current} onSelect={onSelect} />
        </li>
      ))}
      {tree.files.map((file) => {
        const name = shownText(file.path.split('/').at(-1) ?? file.path);
        return (
          <li key={file.path}>
            <button
              type="button"
              aria-current={file.path === current ? 'true' : undefined}
              onClick={() => onSelect(file.path)}
              title={shownText(file.path)}
              style={style}
              className={classNames(
                'flex w-full items-center gap-1.5 py-1 pr-2 text-left text-small -outline-offset-2 hover:bg-sunken max-wide:min-h-11',
                file.path === current && 'bg-sunken font-medium text-ink',
              )}
            >
              <FileDiff aria-hidden="true" className="size-3.5 shrink-0 text-muted" />
              <span
                className={classNames(
                  'from-outside min-w-0 flex-1 truncate',
                  file.status === 'deleted' && 'line-through',
                )}
              >
                {name}
              </span>
              <FileCounts file={file} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

export function FileCounts({ file: { added, removed, cut } }: { file: ChangedFile }) {
  if (added === null)
    return <span className="shrink-0 text-tiny text-unknown">{cut ? 'lines unknown' : 'binary'}</span>;
  return <LineCounts added={added} removed={removed ?? 0} />;
}
