import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type ApiKey, findKey, type Scope, touchKey } from '../keys.ts';
import { capsDocument } from './caps.ts';
import { errorDocument, NewznabError, statusOf } from './errors.ts';
import { get } from './get.ts';
import { linksFor } from './links.ts';
import { Parameters } from './parameters.ts';
import { search } from './search.ts';

/** Every `t` that a client may send for a function, and the function. Others are error 202. */
const FUNCTIONS: Readonly<Record<string, 'caps' | 'search' | 'get' | 'later'>> = {
  caps: 'caps',
  c: 'caps',
  search: 'search',
  s: 'search',
  get: 'get',
  g: 'get',
  tvsearch: 'later',
  tv: 'later',
  movie: 'later',
  m: 'later',
  music: 'later',
  audio: 'later',
  book: 'later',
  b: 'later',
  cartadd: 'later',
  cartdel: 'later',
  comments: 'later',
  commentadd: 'later',
  user: 'later',
  register: 'later',
  details: 'later',
  d: 'later',
  getnfo: 'later',
  nfo: 'later',
};

const XML = 'application/xml; charset=utf-8';

const queryOf = (request: FastifyRequest): string => request.url.split('?').slice(1).join('?');
const baseUrlOf = (request: FastifyRequest, deps: ApiDependencies): string =>
  deps.settings.publicUrl ?? `${request.protocol}://${request.host}`;

/** The valid key of a request that may do `scope`; throws error 100 or 102. */
async function authorize(deps: ApiDependencies, parameters: Parameters, scope: Scope): Promise<ApiKey> {
  const given = parameters.text('apikey', 'r');
  const key = given === undefined ? null : await findKey(deps.sql, given);
  if (!key) throw new NewznabError(100);
  if (!key.scopes.includes(scope)) throw new NewznabError(102);
  await touchKey(deps.sql, key.id);
  return key;
}

async function answer(request: FastifyRequest, reply: FastifyReply, deps: ApiDependencies): Promise<FastifyReply> {
  const parameters = new Parameters(queryOf(request));
  const t = parameters.text('t')?.toLowerCase();
  if (t === undefined) throw new NewznabError(200, 't');
  const name = Object.hasOwn(FUNCTIONS, t) ? FUNCTIONS[t] : undefined;
  if (name === undefined) throw new NewznabError(202, t.slice(0, 40));
  const base = baseUrlOf(request, deps);
  switch (name) {
    case 'caps':
      return reply.type(XML).send(capsDocument({ ...deps.settings, url: base }));
    case 'search': {
      await authorize(deps, parameters, 'search');
      const links = linksFor(base, parameters.text('apikey', 'r') ?? '');
      const context = { sql: deps.sql, title: deps.settings.title, links, now: deps.clock.now() };
      return reply.type('application/rss+xml; charset=utf-8').send(await search(parameters, context));
    }
    case 'get': {
      await authorize(deps, parameters, 'get');
      const nzb = await get(parameters, deps.sql);
      reply.type('application/x-nzb').header('Content-Disposition', nzb.disposition);
      return reply.send(Readable.from(nzb.pieces));
    }
    case 'later':
      throw new NewznabError(203, t);
    default:
      return name satisfies never;
  }
}

/** What a failure is to the caller; only what is ours is logged. */
function asNewznabError(error: unknown, deps: ApiDependencies): NewznabError {
  if (error instanceof NewznabError) return error;
  const outage = isHeadwaterError(error) && error.retriable;
  deps.log[outage ? 'warn' : 'error']('the Newznab API could not answer', { error });
  return new NewznabError(outage ? 910 : 900);
}

export function newznabRoutes(app: FastifyInstance, deps: ApiDependencies): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const end = (outcome: string) => deps.metrics.count('api_requests_total', { outcome });
    try {
      const sent = await answer(request, reply, deps);
      end('ok');
      return sent;
    } catch (error) {
      const newznab = asNewznabError(error, deps);
      end(`error_${newznab.code}`);
      const isGet = /[?&]t=g(et)?(&|$)/i.test(request.url);
      return reply.code(statusOf(newznab.code, isGet)).type(XML).send(errorDocument(newznab.code, newznab.message));
    }
  };
  app.get('/api', handler);
  app.get('/api/', handler);
}
