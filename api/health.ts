import type { FastifyInstance } from 'fastify';
import type { ApiDependencies } from './dependencies.ts';

/** `/healthz`: the process answers. `/readyz`: it can also do its work. `/metrics`: numbers for Prometheus. */
export function healthRoutes(app: FastifyInstance, deps: ApiDependencies): void {
  app.get('/healthz', () => ({ status: 'alive' }));
  app.get('/readyz', async (_request, reply) => {
    const needs = await deps.readiness();
    const ready = Object.values(needs).every((problem) => problem === null);
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', needs });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await deps.metricsText()),
  );
}
