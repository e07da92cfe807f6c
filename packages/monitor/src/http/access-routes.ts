// POST /api/access/code: a code that opens the dashboard once. POST /api/access/key: a page trades it for its key.
import { api } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import type { Access } from '../access/access.ts';
import { Failure } from '../errors.ts';
import { fieldsOf, neededText } from './request-fields.ts';

export function accessRoutes(access: Pick<Access, 'newCode' | 'tradeCode'>): FastifyPluginCallback {
  return (app, _options, done) => {
    app.post(api.newCode.path, (request) => {
      fieldsOf(request.body, api.newCode.body);
      return access.newCode();
    });
    app.post(api.tradeCode.path, (request) => {
      const { body } = api.tradeCode;
      const key = access.tradeCode(neededText('code', fieldsOf(request.body, body).code, body.shape.code));
      if (key !== undefined) return { key };
      throw new Failure(
        'unknown-code',
        'The code was used or is too old.',
        'Open the dashboard again: svc open',
      );
    });
    done();
  };
}
