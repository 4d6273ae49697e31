import type { Readiness } from '../../../api/dependencies.ts';
import { createServer } from '../../../api/server.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { VERSION } from '../build.ts';
import type { ServiceContext, ServiceDefinition } from '../service.ts';
import { idleUntilStopped } from './idle.ts';

const READY_WITHIN_MS = 3000;

/** What answers within a moment is there. */
async function problemOf(look: () => Promise<unknown>): Promise<string | null> {
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`no answer within ${READY_WITHIN_MS} ms`), READY_WITHIN_MS).unref();
  });
  const problem = look().then(
    () => null,
    (error: unknown) => (error as Error).message,
  );
  return Promise.race([problem, late]);
}

const readiness = async ({ db, link }: ServiceContext): Promise<Readiness> => ({
  postgres: await problemOf(() => db.query('SELECT 1')),
  nats: await problemOf(() => link.up()),
});

/** The Newznab API. */
export const apiService: ServiceDefinition = {
  kind: 'api',
  databaseConnections: 12,
  // Clients give up after 30 s or more; until then they shall have been told that it does not work now.
  databaseAnswerMs: 15_000,
  readsByIndex: true,
  reads: ['catalog', 'chunks'],
  async run(context, ready, signal) {
    const { api } = context.config;
    const app = createServer({
      ...context,
      sql: context.db,
      metricsText: () => context.metrics.text(),
      readiness: () => readiness(context),
      settings: { title: api.title, version: VERSION, publicUrl: api.publicUrl },
    });
    try {
      await app.listen({ host: api.host, port: api.port }).catch((error: Error) => {
        throw new HeadwaterError('API_CANNOT_LISTEN', { ...api, reason: error.message }, { cause: error });
      });
      ready();
      await idleUntilStopped(signal);
    } finally {
      await app.close();
    }
  },
};
