/** Every metric of Headwater: its kind, what it says, its labels. Labels are bounded: no ids, no names of releases. */
export type MetricKind = 'counter' | 'gauge' | 'histogram';

export interface MetricSpec {
  readonly kind: MetricKind;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in the unit of its name. */
  readonly buckets?: readonly number[];
}

const counter = (help: string, ...labels: string[]): MetricSpec => ({ kind: 'counter', help, labels });

export const METRICS: Readonly<Record<string, MetricSpec>> = {
  api_requests_total: counter('Newznab requests by outcome', 'outcome'),
};
