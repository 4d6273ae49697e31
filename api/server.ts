import fastify, { type FastifyInstance } from 'fastify';
import type { ApiDependencies } from './dependencies.ts';
import { healthRoutes } from './health.ts';
import { newznabRoutes } from './newznab/route.ts';

/** Builds the app from its dependencies; it listens nowhere. Requests are small: bodies are refused above 1 MiB. */
export function createServer(deps: ApiDependencies): FastifyInstance {
  const app = fastify({
    logger: false,
    trustProxy: true,
    bodyLimit: 1024 * 1024,
    routerOptions: { maxParamLength: 200 },
    requestTimeout: 60_000,
    forceCloseConnections: true,
  });
  healthRoutes(app, deps);
  newznabRoutes(app, deps);
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'not found', hint: 'The Newznab API is at /api?t=caps' }),
  );
  return app;
}
