export type * from './api-types.ts';
export { type Answer, type Client, type ClientOptions, createClient } from './client.ts';
export { ApiFailure } from './failure.ts';
export type { FollowWish } from './follow.ts';
