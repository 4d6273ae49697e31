import type { Conditions, EventSink } from '../../processors/ports.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { incidentClosed, incidentOpened } from '../../streams/events/ops.ts';
import { EpochMs } from '../../streams/ids.ts';
import type { ServiceKind } from '../../streams/services.ts';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { redact } from './log.ts';
import type { ConditionView } from './serviceFile.ts';

/** Conditions of one service at most; what comes after is only logged. */
const CONDITIONS_MAX = 200;

export interface ConditionBoard extends Conditions {
  readonly current: () => readonly ConditionView[];
  /** Incidents are appended from now on; those that opened before follow at once. */
  publishTo(sink: EventSink): void;
}

interface BoardOptions {
  readonly service: ServiceKind;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after every change. */
  readonly changed: (conditions: readonly ConditionView[]) => void;
  readonly signal: AbortSignal;
}

const viewOf = (about: string, error: Error, since: number): ConditionView => ({
  about,
  code: error instanceof HeadwaterError ? error.code : 'DEFECT',
  message: redact(error.message).slice(0, 1000),
  hint: error instanceof HeadwaterError ? error.hint : 'This is a defect of Headwater: the log has its stack.',
  since,
});

/** Keeps what is wrong now: logs each change once, shows it in the service's file, appends it as an incident. */
export function createConditionBoard(options: BoardOptions): ConditionBoard {
  const { service, clock, log, changed } = options;
  const open = new Map<string, ConditionView>();
  let sink: EventSink | null = null;
  // Incidents keep their order among themselves, and a slow or absent server never holds up the work.
  let queue: Promise<unknown> = Promise.resolve();

  const append = (kind: 'opened' | 'closed', view: ConditionView): void => {
    if (sink === null) return;
    const target = sink;
    const common = { origin: service, class: view.code, about: view.about.replace(/\p{Cc}/gu, ' ').slice(0, 200) };
    const event =
      kind === 'opened'
        ? makeEvent(incidentOpened, EpochMs(view.since), { ...common, message: view.message, hint: view.hint })
        : makeEvent(incidentClosed, EpochMs(clock.now()), { ...common, openedAt: EpochMs(view.since) });
    queue = queue
      .then(() => target.append(event, { signal: options.signal }))
      .catch((error: unknown) => log.debug('an incident was not appended', { error }));
  };

  return {
    current: () => [...open.values()],
    report(about, error) {
      const known = open.get(about);
      const view = viewOf(about, error, known?.since ?? clock.now());
      if (known?.code === view.code) {
        if (known.message === view.message) return;
        open.set(about, view);
        changed([...open.values()]);
        return;
      }
      if (known) append('closed', known);
      else if (open.size >= CONDITIONS_MAX) return log.warn(view.message, { about, code: view.code });
      const fresh = { ...view, since: clock.now() };
      open.set(about, fresh);
      log.warn(fresh.message, { about, code: fresh.code, hint: fresh.hint });
      append('opened', fresh);
      changed([...open.values()]);
    },
    clear(about) {
      const known = open.get(about);
      if (!known) return;
      open.delete(about);
      log.info(`well again: ${about}`, { about, code: known.code, wellAgain: true });
      append('closed', known);
      changed([...open.values()]);
    },
    publishTo(target) {
      sink = target;
      for (const view of open.values()) append('opened', view);
    },
  };
}
