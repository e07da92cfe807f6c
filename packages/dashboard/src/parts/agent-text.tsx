// Text of an agent: never HTML, no terminal sequences, and characters that are invisible or change the direction are
// written out, so that code reads as it runs.
import { visibleText } from '@svc/lib/visible-text';
import { Fragment, memo, useMemo, useState } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';

/** A right-to-left override becomes `[U+202E]`. */
export const shownText = visibleText;

export type TextBlock = { kind: 'text' | 'code'; text: string };

/** Fenced code and the text around it. A fence that is not closed, as while a message arrives, ends with the text. */
export function blocksOf(text: string): TextBlock[] {
  const blocks: TextBlock[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const end = (kind: TextBlock['kind']): void => {
    const block = kind === 'code' ? lines.join('\n') : lines.join('\n').replaceAll(/^\n+|\s+$/g, '');
    if (block !== '') blocks.push({ kind, text: block });
    lines = [];
  };
  for (const line of text.split('\n')) {
    const [, marks = null] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === null && marks !== null) {
      end('text');
      fence = marks;
    } else if (fence !== null && marks?.startsWith(fence) && line.trim() === marks) {
      end('code');
      fence = null;
    } else lines.push(line);
  }
  end(fence === null ? 'text' : 'code');
  return blocks;
}

/** More than fits on a few screens is shown on request: a long line takes the browser long to lay out. */
const SHOWN = 8_000;

/** `end`: of a long text the end is shown, as for the output of a program. */
export function useShortened(text: string, end = false) {
  const [all, setAll] = useState(false);
  const shown = useMemo(() => {
    const part = all || text.length <= SHOWN ? text : end ? text.slice(-SHOWN) : text.slice(0, SHOWN);
    return shownText(part.toWellFormed());
  }, [text, all, end]);
  const more = !all && text.length > SHOWN && (
    <Button quiet className="self-start" onClick={() => setAll(true)}>
      Show all {Math.round(text.length / 1_000)} k characters
    </Button>
  );
  return { shown, more };
}

/** A message: paragraphs, lists, code blocks, inline code and bold. */
export const AgentText = memo(function AgentText({ text, className }: { text: string; className?: string }) {
  const { shown, more } = useShortened(text);
  const blocks = useMemo(() => blocksOf(shown), [shown]);
  return (
    <div className={classNames('flex min-w-0 flex-col gap-2', className)}>
      {blocks.map((block, index) =>
        block.kind === 'code' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name, and are only appended.
          <CodeBlock key={index} text={block.text} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same.
          <Paragraphs key={index} text={block.text} />
        ),
      )}
      {more}
    </div>
  );
});

/** One item of a list: how deep it is, its mark as written, and its text. */
type ListItem = { depth: number; mark: string; text: string };
export type TextPart = { kind: 'text'; text: string } | { kind: 'list'; items: ListItem[] };

const MOST_DEPTH = 6;

/** Lists and the text around them. A line that goes on an item is indented; an empty line may be between two items. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let isGap = false;
  for (const line of text.split('\n')) {
    const last = parts.at(-1);
    const [, indent = '', mark = null, words = ''] = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line) ?? [];
    if (mark !== null) {
      const depth = Math.min(MOST_DEPTH, Math.floor(indent.replaceAll('\t', '  ').length / 2));
      const item = { depth, mark: /^\d/.test(mark) ? mark : '•', text: words };
      if (last?.kind === 'list') last.items.push(item);
      else parts.push({ kind: 'list', items: [item] });
    } else if (last?.kind === 'list' && !isGap && /^\s+\S/.test(line)) {
      const item = last.items.at(-1);
      if (item !== undefined) item.text += `\n${line.trim()}`;
    } else if (last?.kind === 'text') last.text += `\n${line}`;
    else if (line.trim() !== '') parts.push({ kind: 'text', text: line });
    isGap = line.trim() === '';
  }
  return parts.map((part) => (part.kind === 'text' ? { ...part, text: part.text.trimEnd() } : part));
}

function Paragraphs({ text }: { text: string }) {
  return partsOf(text).map((part, index) =>
    part.kind === 'text' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and are only appended.
      <p key={index} dir="auto" className="from-outside whitespace-pre-wrap">
        <Inline text={part.text} />
      </p>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the same.
      <ul key={index} className="flex flex-col gap-0.5">
        {part.items.map((item, number) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: the same.
            key={number}
            dir="auto"
            className="from-outside flex gap-2 whitespace-pre-wrap"
            style={{ paddingInlineStart: `${item.depth}rem` }}
          >
            <span className="shrink-0 text-muted">{item.mark}</span>
            <span className="min-w-0">
              <Inline text={item.text} />
            </span>
          </li>
        ))}
      </ul>
    ),
  );
}

export function CodeBlock({ text, className }: { text: string; className?: string }) {
  return (
    <pre
      dir="ltr"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
      tabIndex={0}
      className={classNames(
        'from-outside max-h-96 overflow-auto whitespace-pre-wrap rounded-control border border-line bg-sunken px-3 py-2 text-tiny text-text',
        className,
      )}
    >
      {shownText(text)}
    </pre>
  );
}

function Inline({ text }: { text: string }) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, index) => {
    const inner = part.length > 2 && part.startsWith('`') ? part.slice(1, -1) : null;
    // biome-ignore-start lint/suspicious/noArrayIndexKey: parts have no other name.
    if (inner !== null)
      return (
        <code key={index} className="rounded-sm bg-sunken px-1 py-px text-tiny">
          {inner}
        </code>
      );
    if (part.length > 4 && part.startsWith('**')) return <strong key={index}>{part.slice(2, -2)}</strong>;
    return <Fragment key={index}>{part}</Fragment>;
    // biome-ignore-end lint/suspicious/noArrayIndexKey: parts have no other name.
  });
}
