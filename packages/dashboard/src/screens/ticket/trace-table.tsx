// The trace in words: the same spans as a table, for whoever reads rather than looks.

import type { Trace, TraceSpan } from '@svc/core';
import { EventLink } from '../../parts/event-link.tsx';
import { OutsideLink, OutsideText } from '../../parts/outside.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Cell, Column, rowClass, Table } from '../../parts/table.tsx';
import { clockWords, durationWords, exactWords } from '../../parts/time-words.ts';
import { laneNames, spanLabel, spanMeaning } from './trace-meaning.ts';

export function TraceTable({ trace, isProven }: { trace: Trace; isProven: boolean }) {
  const now = Date.parse(trace.now);
  return (
    <Table
      label="Trace as a table"
      head={
        <>
          <Column>Kind</Column>
          <Column>What</Column>
          <Column>State</Column>
          <Column number>Start</Column>
          <Column number>End</Column>
          <Column number>Took</Column>
          <Column>Lines</Column>
        </>
      }
    >
      {trace.spans.map((span) => (
        <tr key={span.id} className={rowClass}>
          <Cell className="whitespace-nowrap text-muted">{laneNames[span.kind]}</Cell>
          <Cell>
            <OutsideLink href={span.url}>
              <OutsideText>{spanLabel(span, isProven)}</OutsideText>
            </OutsideLink>
            {span.reason !== null && (
              <span className="ml-2 text-muted">
                <OutsideText>{span.reason}</OutsideText>
              </span>
            )}
          </Cell>
          <Cell>
            <State span={span} isProven={isProven} />
          </Cell>
          <Cell number>
            <Moment at={span.start} now={now} />
          </Cell>
          <Cell number>{span.end === null ? 'goes on' : <Moment at={span.end} now={now} />}</Cell>
          <Cell number>
            {span.end === span.start
              ? 'a moment'
              : durationWords((span.end === null ? now : Date.parse(span.end)) - Date.parse(span.start))}
          </Cell>
          <Cell className="whitespace-nowrap">
            <EventLink seq={span.startSeq} />
            {span.endSeq !== null && span.endSeq !== span.startSeq && (
              <>
                {' '}
                <EventLink seq={span.endSeq} />
              </>
            )}
          </Cell>
        </tr>
      ))}
    </Table>
  );
}

function State({ span, isProven }: { span: TraceSpan; isProven: boolean }) {
  const meaning = spanMeaning(span, isProven);
  const words = span.state === 'running' ? 'goes on' : span.state;
  return meaning === 'plain' ? (
    <span className="text-muted">{words}</span>
  ) : (
    <Pill meaning={meaning}>{words}</Pill>
  );
}

function Moment({ at, now }: { at: string; now: number }) {
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exactWords(time)}>
      {clockWords(time, now)}
    </time>
  );
}
