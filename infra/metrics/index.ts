import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricLabels, Metrics } from '../base/metrics.ts';
import { METRICS, type MetricSpec } from './table.ts';

export interface MetricRegistry extends Metrics {
  /** The exposition text for Prometheus. */
  text(): Promise<string>;
}

/** Every metric is named so outside; inside, the table's names are enough. */
const PREFIX = 'headwater_';

type Instrument = Counter | Gauge | Histogram;

function build(name: string, spec: MetricSpec, registers: Registry[]): Instrument {
  const options = { name: `${PREFIX}${name}`, help: spec.help, labelNames: [...spec.labels], registers };
  switch (spec.kind) {
    case 'counter':
      return new Counter(options);
    case 'gauge':
      return new Gauge(options);
    case 'histogram':
      return new Histogram({ ...options, ...(spec.buckets ? { buckets: [...spec.buckets] } : {}) });
    default:
      return spec.kind satisfies never;
  }
}

/** One registry a process. A name that is not in the table is a defect and throws a TypeError. */
export function createMetrics(options: { service: string; processMetrics?: boolean }): MetricRegistry {
  const registry = new Registry();
  registry.setDefaultLabels({ service: options.service });
  if (options.processMetrics ?? true) collectDefaultMetrics({ register: registry });
  const instruments = new Map(Object.entries(METRICS).map(([name, spec]) => [name, build(name, spec, [registry])]));
  const find = <T extends Instrument>(name: string, type: new (...args: never[]) => T): T => {
    const instrument = instruments.get(name);
    if (!(instrument instanceof type)) throw new TypeError(`metric ${name} is not in infra/metrics/table.ts as such`);
    return instrument;
  };
  const labels = (name: string, given: MetricLabels = {}) =>
    Object.fromEntries(METRICS[name]!.labels.map((label) => [label, given[label] ?? '']));
  return {
    count: (name, l, by = 1) => find(name, Counter<string>).inc(labels(name, l), by),
    gauge: (name, value, l) => find(name, Gauge<string>).set(labels(name, l), value),
    observe: (name, value, l) => find(name, Histogram<string>).observe(labels(name, l), value),
    text: () => registry.metrics(),
  };
}
