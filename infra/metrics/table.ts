/**
 * Every metric of Headwater: its kind, what it says, its labels. Names get the prefix `headwater_` outside. Labels are
 * bounded: no ids, no groups, no text from outside; a label that a caller gives and the table does not name is dropped.
 */
export type MetricKind = 'counter' | 'gauge' | 'histogram';

export interface MetricSpec {
  readonly kind: MetricKind;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in the unit of its name. */
  readonly buckets?: readonly number[];
}

const counter = (help: string, ...labels: string[]): MetricSpec => ({ kind: 'counter', help, labels });
const gauge = (help: string, ...labels: string[]): MetricSpec => ({ kind: 'gauge', help, labels });

export const METRICS: Readonly<Record<string, MetricSpec>> = {
  nntp_connects_total: counter('Attempts to connect to a provider, by result', 'provider', 'result'),
  nntp_replies_total: counter('Replies of a provider', 'provider', 'command', 'code'),
  nntp_read_bytes_total: counter('Bytes read from a provider', 'provider', 'command'),
  nntp_broken_replies_total: counter(
    'Compressed replies that were broken and read again plainly',
    'provider',
    'compression',
  ),
  nntp_connections_open: gauge('Connections to a provider', 'provider'),
  nntp_connections_busy: gauge('Connections that are in use', 'provider'),
  nntp_connections_waiting: gauge('Callers that wait for a connection', 'provider'),
  events_rejected_total: counter('Messages that are no event of this Headwater', 'code'),
  coordinator_ranges_planned_total: counter('Ranges planned', 'lane', 'backbone'),
  coordinator_ranges_retired_total: counter('Ranges that are no longer wanted', 'backbone', 'reason'),
  coordinator_runs_purged_total: counter('Runs whose batches were removed from OVERVIEW', 'backbone'),
  coordinator_room_ranges: gauge('Ranges that may be planned now'),
  coordinator_room_numbers: gauge('Article numbers that may be planned now; -1: no limit'),
  processor_deliveries_total: counter(
    'Deliveries of a durable consumer, by what became of them',
    'consumer',
    'outcome',
  ),
  fetch_lines_dropped_total: counter('Overview lines outside the numbers that were asked for'),
  headers_lines_total: counter('Overview lines parsed'),
  headers_lines_kept_total: counter('Overview lines that became segments'),
  headers_lines_skipped_total: counter('Overview lines that went nowhere', 'reason'),
  settle_releases_settled_total: counter('Releases settled, by how their figures were found', 'figures'),
  settle_releases_skipped_total: counter('Releases that were due and resolved but not settled', 'reason'),
  settle_releases_waiting: gauge('Due releases whose numbers were not all resolved at the last look'),
  fragments_merges_total: counter('Files merged from their pieces, by what closed them', 'rule'),
  fragments_pieces_merged_total: counter('Pieces that merges took in'),
  projection_lag: gauge('Events that a projection has not seen yet', 'projection'),
  projection_sequence: gauge('Position of a projection in its stream', 'projection'),
  projection_events_total: counter('Events projected', 'projection'),
  projection_failures_total: counter('Times that a projection had to stop', 'projection', 'code'),
  projection_commit_seconds: {
    kind: 'histogram',
    help: 'Time from a batch of events to its commit',
    labels: ['projection'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
  },
  api_requests_total: counter('Newznab requests by outcome', 'outcome'),
};
