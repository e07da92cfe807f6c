// Every operation of the daemon by its method and path, from its table of routes. Only types: a program that calls the
// daemon carries no schema.
import type { ApiAnswer, ApiGiven, ApiRoute, api } from '@svc/core';

/** Deliveries are signed by who sends them, and never sent by a client. */
type Route = Exclude<(typeof api)[keyof typeof api], { tag: 'webhooks' }>;

type Operation<R extends ApiRoute> = {
  params: ApiGiven<R, 'params'>;
  query: InAddress<ApiGiven<R, 'query'>>;
  body: ApiGiven<R, 'body'>;
  answer: ApiAnswer<R>;
};

/** An address is text: a number may be given either way. */
type InAddress<Given> = Given extends object
  ? { [Name in keyof Given]: number extends Given[Name] ? Given[Name] | string : Given[Name] }
  : Given;

export type Operations = {
  [Method in Route['method']]: {
    [R in Extract<Route, { method: Method }> as R['path']]: Operation<R>;
  };
};

/** One accepted fact, as it stands in the log. */
export type { EventLine } from '@svc/core';
