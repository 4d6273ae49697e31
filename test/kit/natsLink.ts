import { systemClock } from '../../infra/base/clock.ts';
import { type Log, silentLog } from '../../infra/base/log.ts';
import { connectNats, type NatsLink } from '../../infra/nats/index.ts';
import { RecordedConditions } from './recordedConditions.ts';

export interface TestLink {
  readonly link: NatsLink;
  readonly conditions: RecordedConditions;
}

/** A link for a test, and the conditions that it reports. */
export async function testLink(url: string, other: { readonly log?: Log; readonly signal?: AbortSignal } = {}) {
  const conditions = new RecordedConditions();
  const settings = { url, name: 'test', log: other.log ?? silentLog, conditions, clock: systemClock };
  return { link: await connectNats({ ...settings, signal: other.signal }), conditions };
}

/** The same link with parts of it replaced, as a server or client that behaves otherwise would. */
export const altered = (link: NatsLink, parts: Partial<NatsLink>): NatsLink =>
  new Proxy(link, {
    get(target, key) {
      if (key in parts) return parts[key as keyof NatsLink];
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
