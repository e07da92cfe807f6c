// The waves of a run and their dependencies. Tickets can be focused with the keyboard and then show their details.
import { Link } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { runCostText } from 'svc-monitor/src/features/agents/cost.ts';
import { waveLabel } from 'svc-monitor/src/features/runs/run-labels.ts';
import { isShipped } from 'svc-monitor/src/features/workers/status-groups.ts';
import { For } from '../../parts/age.tsx';
import { classNames } from '../../parts/class-names.ts';
import { backgroundOf, edgeOf } from '../../parts/meaning.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Dot, Pill } from '../../parts/pill.tsx';
import { useWidth } from '../../parts/time-axis.tsx';
import { Tip } from '../../parts/tip.tsx';
import { type Edge, type GraphNode, HEAD_HEIGHT, layoutToFit, NODE_HEIGHT } from './graph-layout.ts';
import type { RunModel, RunTicket, RunWave } from './run-model.ts';

export function WaveGraph({ model, edges }: { model: RunModel; edges: readonly Edge[] }) {
  const { waves } = model;
  const frame = useRef<HTMLElement>(null);
  const width = useWidth(frame);
  const layout = useMemo(
    () =>
      layoutToFit(
        waves.map(({ tickets }) => tickets.map(({ ticket }) => ticket)),
        edges,
        width,
      ),
    [waves, edges, width],
  );
  const byName = new Map(model.tickets.map((one) => [one.ticket, one]));
  return (
    <Panel
      title={edges.length === 0 ? 'Waves' : 'Waves and dependencies'}
      flush
      aside={
        edges.length === 0 && (
          <span className="text-tiny text-muted">
            A wave starts when the previous one no longer blocks it.
          </span>
        )
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard. */}
      <section
        ref={frame}
        aria-label="Waves as a graph"
        tabIndex={0}
        className="max-h-[42rem] overflow-auto p-4"
      >
        <div className="relative" style={{ width: layout.width, height: layout.height }}>
          <svg
            aria-hidden="true"
            className="absolute inset-0 overflow-visible"
            width={layout.width}
            height={layout.height}
          >
            <title>Dependencies</title>
            <defs>
              <marker
                id="edge-end"
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                orient="auto"
              >
                <path d="M 0 1 L 7 4 L 0 7 z" fill="var(--line-strong)" />
              </marker>
            </defs>
            {layout.edges.map(({ from, to, path }) => (
              <path
                key={`${from} ${to}`}
                d={path}
                fill="none"
                stroke="var(--line-strong)"
                markerEnd="url(#edge-end)"
              />
            ))}
            {layout.waves.slice(1).map(({ x }, index) => {
              const before = layout.waves[index];
              return (
                before && (
                  <line
                    key={x}
                    x1={before.x + before.width + 8}
                    x2={x - 8}
                    y1={HEAD_HEIGHT / 2 - 8}
                    y2={HEAD_HEIGHT / 2 - 8}
                    stroke="var(--line-strong)"
                    strokeDasharray="3 3"
                    markerEnd="url(#edge-end)"
                  />
                )
              );
            })}
          </svg>
          {waves.map((wave, index) => (
            <WaveHead key={wave.wave ?? 'later'} wave={wave} column={layout.waves[index]} />
          ))}
          <ol aria-label="Tickets by wave">
            {layout.nodes.map((node) => {
              const ticket = byName.get(node.ticket);
              return (
                ticket && (
                  <li key={node.ticket}>
                    <Node
                      node={node}
                      width={layout.nodeWidth}
                      ticket={ticket}
                      run={model.orchestrator}
                      edges={edges}
                    />
                  </li>
                )
              );
            })}
          </ol>
        </div>
      </section>
    </Panel>
  );
}

function WaveHead({ wave, column }: { wave: RunWave; column: { x: number; width: number } | undefined }) {
  const { meaning, words } = waveLabel(wave.state);
  const done = wave.tickets.filter(isShipped).length;
  return (
    <div
      className="absolute top-0 flex items-center gap-2 bg-surface pr-2 whitespace-nowrap"
      style={{ left: column?.x, height: 28 }}
    >
      <h3 className="text-small">{wave.wave === null ? 'Later' : `Wave ${wave.wave}`}</h3>
      <Pill meaning={meaning}>{words}</Pill>
      <span className="text-tiny text-muted">
        {done} of {wave.tickets.length} done
      </span>
    </div>
  );
}

function Node({
  node,
  width,
  ticket,
  run,
  edges,
}: {
  node: GraphNode;
  width: number;
  ticket: RunTicket;
  run: string;
  edges: readonly Edge[];
}) {
  const { meaning, words } = ticket.label;
  const blockers = edges.filter(({ to }) => to === ticket.ticket).map(({ from }) => from);
  return (
    <Tip note={<Details ticket={ticket} blockers={blockers} />}>
      <Link
        to="/tickets/$ticket"
        params={{ ticket: ticket.ticket }}
        search={{ run }}
        className={classNames(
          'absolute flex flex-col justify-center rounded-control border px-2.5 hover:border-line-strong',
          ticket.status === null ? 'border-line border-dashed bg-surface' : edgeOf[meaning],
          ticket.status !== null &&
            (meaning === 'motion' || meaning === 'proven' ? 'bg-surface' : backgroundOf[meaning]),
        )}
        style={{ left: node.x, top: node.y, width, height: NODE_HEIGHT }}
      >
        <span className="flex items-center gap-1.5 text-tiny whitespace-nowrap">
          <Dot meaning={meaning} />
          <span className="font-mono font-medium text-ink">{ticket.ticket}</span>
          <span className="truncate text-muted">{words}</span>
        </span>
        <span className="truncate text-small text-text">
          <OutsideText>{ticket.title ?? 'Title unknown'}</OutsideText>
        </span>
      </Link>
    </Tip>
  );
}

function Details({ ticket, blockers }: { ticket: RunTicket; blockers: readonly string[] }) {
  const { worker, label } = ticket;
  return (
    <div className="flex flex-col gap-1">
      <span className="font-medium text-ink">
        {ticket.ticket} <OutsideText>{ticket.title}</OutsideText>
      </span>
      <span>
        {label.words}
        {ticket.since !== null && (
          <>
            {' '}
            <For at={ticket.since} />
          </>
        )}
        {ticket.costUsd !== null && `, ${runCostText(ticket)}`}
      </span>
      {worker && <OutsideText className="text-muted">{worker.rule}</OutsideText>}
      {typeof worker?.waitsFor === 'string' && (
        <span className="text-muted">
          Waiting for <OutsideText>{worker.waitsFor}</OutsideText>
        </span>
      )}
      {blockers.length > 0 && <span className="text-muted">Blocked by {blockers.join(', ')}</span>}
    </div>
  );
}
