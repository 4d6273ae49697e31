import { catalogCounts } from '../../../projections/catalog/rows.ts';
import { allPositions } from '../../../projections/position.ts';
import { rangeCounts } from '../../../projections/ranges/rows.ts';
import { STREAMS, type StreamFamily, streamName } from '../../../streams/topology.ts';
import { systemClock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { VERSION } from '../build.ts';
import { findEndpoints } from '../endpoints.ts';
import type { ExitCode } from '../exitCodes.ts';
import { type ConditionView, isAlive, readServiceViews, type ServiceView } from '../serviceFile.ts';
import { type CommandContext, withDatabase, withNats } from './client.ts';
import { type StatusView, statusExit, statusLines } from './statusView.ts';

type Condition = StatusView['conditions'][number];

const conditionOf = (about: string, error: unknown): Condition => ({
  service: 'status',
  about,
  code: error instanceof HeadwaterError ? error.code : 'DEFECT',
  message: (error as Error).message,
  hint: error instanceof HeadwaterError ? error.hint : 'This is a defect of Headwater.',
  since: systemClock.now(),
});

const endOf = (view: ServiceView): StatusView['services'][number] => ({
  service: view.service,
  state: view.state !== 'stopped' && !isAlive(view.pid) ? 'gone' : view.state,
  pid: view.pid,
  startedAt: view.startedAt,
});

/** A process that ended without saying so was killed, or its machine was. */
const goneCondition = (view: ServiceView): Condition =>
  conditionOf(`service/${view.service}`, new HeadwaterError('PROCESS_GONE', { service: view.service, pid: view.pid }));

export const conditionsOf = (view: ServiceView): readonly Condition[] =>
  endOf(view).state === 'gone'
    ? [goneCondition(view)]
    : isAlive(view.pid)
      ? view.conditions.map((c: ConditionView) => ({ ...c, service: view.service }))
      : [];

type Streams = { rows: StatusView['streams']; last: ReadonlyMap<StreamFamily, number> };

const readStreams = (context: CommandContext): Promise<Streams> =>
  withNats(context, async ({ reader }) => {
    const families = Object.keys(STREAMS) as StreamFamily[];
    const states = await Promise.all(families.map((family) => reader.state(family)));
    const rows = families.map((family, i) => {
      const { messages, bytes, last } = states[i]!;
      return { stream: streamName(family, last.number), messages, bytes, last: last.sequence };
    });
    return { rows, last: new Map(families.map((family, i) => [family, states[i]!.last.sequence])) };
  });

const readRows = (context: CommandContext, last: Streams['last'] | null) =>
  withDatabase(context, async (db) => {
    const projections = (await allPositions(db)).map((p) => ({
      projection: p.name,
      stream: streamName(p.family, p.position.number),
      position: p.position.sequence,
      lag: Math.max(0, (last?.get(p.family) ?? p.position.sequence) - p.position.sequence),
    }));
    return { projections, catalog: await catalogCounts(db), ranges: await rangeCounts(db) };
  });

/** Gathers what can be gathered; what does not answer becomes a condition of its own, never the end of the command. */
export async function gatherStatus(context: CommandContext): Promise<StatusView> {
  const { config, env } = context;
  const views = readServiceViews(config.dataDir);
  const found: Condition[] = views.flatMap(conditionsOf);
  findEndpoints(config, env);
  const attempt = async <T>(about: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      found.push(conditionOf(about, error));
      return null;
    }
  };
  const streams = await attempt('nats', () => readStreams(context));
  const rows = await attempt('postgres', () => readRows(context, streams?.last ?? null));
  return {
    version: VERSION,
    dataDir: config.dataDir,
    now: systemClock.now(),
    services: views.map(endOf),
    streams: streams?.rows ?? [],
    projections: rows?.projections ?? [],
    catalog: rows?.catalog ?? null,
    ranges: rows?.ranges ?? null,
    conditions: found,
  };
}

export async function statusCommand(context: CommandContext, json: boolean): Promise<ExitCode> {
  const view = await gatherStatus(context);
  for (const line of json ? [JSON.stringify(view, null, 2)] : statusLines(view)) context.print(line);
  return statusExit(view);
}
