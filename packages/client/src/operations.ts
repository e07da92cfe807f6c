// Every operation of the daemon by method and path, from its route table. Only types: clients bundle no schemas.
// The empty imports bring what the features add to one interface each: effects, topics and what the board keeps.
import type { api } from 'svc-monitor/src/features/api.ts';
import type {} from 'svc-monitor/src/features/board.ts';
import type {} from 'svc-monitor/src/features/effect-kinds.ts';
import type {} from 'svc-monitor/src/features/topics.ts';
import type { ApiAnswer, ApiGiven, ApiRoute } from 'svc-monitor/src/kernel/http/api-route.ts';

/** Webhook deliveries are signed by their sender and never sent by a client. */
type Route = Exclude<(typeof api)[keyof typeof api], { tag: 'webhooks' }>;

type Operation<R extends ApiRoute> = {
  params: ApiGiven<R, 'params'>;
  query: InAddress<ApiGiven<R, 'query'>>;
  body: ApiGiven<R, 'body'>;
  answer: ApiAnswer<R>;
};

/** A URL is text: a number may be passed either way. */
type InAddress<Given> = Given extends object
  ? { [Name in keyof Given]: number extends Given[Name] ? Given[Name] | string : Given[Name] }
  : Given;

export type Operations = {
  [Method in Route['method']]: {
    [R in Extract<Route, { method: Method }> as R['path']]: Operation<R>;
  };
};

/** One event, as written in the log. */
export type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
