import { EXIT, type ExitCode } from '../exitCodes.ts';
import type { ConditionView, ServiceState } from '../serviceFile.ts';
import { bytesText, durationText, grouped, tableLines } from './table.ts';

/** What `status --json` prints: everything that the text shows, as data. */
export interface StatusView {
  readonly version: string;
  readonly dataDir: string;
  readonly now: number;
  readonly services: readonly {
    readonly service: string;
    readonly state: ServiceState | 'gone';
    readonly pid: number;
    readonly startedAt: number;
  }[];
  readonly streams: readonly {
    readonly stream: string;
    readonly messages: number;
    readonly bytes: number;
    readonly last: number;
  }[];
  readonly projections: readonly {
    readonly projection: string;
    readonly stream: string;
    readonly position: number;
    readonly lag: number;
  }[];
  readonly catalog: { readonly releases: number; readonly listed: number } | null;
  readonly ranges: Readonly<Record<string, number>> | null;
  readonly conditions: readonly (ConditionView & { readonly service: string })[];
}

const section = (title: string, lines: readonly string[]): readonly string[] => [
  '',
  title,
  ...lines.map((l) => `  ${l}`),
];

function conditionLines(view: StatusView): readonly string[] {
  return view.conditions.flatMap((c) => [
    `! ${c.about} (${c.service}, for ${durationText(view.now - c.since)}): ${c.message}`,
    `    ${c.hint}`,
  ]);
}

/** The lines of `headwater status`. */
export function statusLines(view: StatusView): readonly string[] {
  const services = view.services.map((s) => [
    s.service,
    s.state,
    s.state === 'gone' || s.state === 'stopped' ? '-' : durationText(view.now - s.startedAt),
    `${s.pid}`,
  ]);
  const streams = view.streams.map((s) => [s.stream, s.messages, bytesText(s.bytes), s.last]);
  const projections = view.projections.map((p) => [p.projection, p.stream, p.position, p.lag]);
  const ranges = Object.entries(view.ranges ?? {}).map(([state, n]) => `${grouped(n)} ${state}`);
  const contents = view.catalog
    ? [
        `releases: ${grouped(view.catalog.releases)} (${grouped(view.catalog.listed)} listed)`,
        `ranges: ${ranges.join(', ') || 'none'}`,
      ]
    : ['not known: the database does not answer'];
  return [
    `Headwater ${view.version}, data in ${view.dataDir}`,
    ...section('services', tableLines(['service', 'state', 'for', 'pid'], services)),
    ...section('streams', tableLines(['stream', 'messages', 'bytes', 'last'], streams)),
    ...section('projections', tableLines(['projection', 'stream', 'position', 'lag'], projections)),
    ...section('contents', contents),
    ...section('needs attention', view.conditions.length > 0 ? conditionLines(view) : ['nothing']),
  ];
}

/** Unhealthy as soon as something needs attention or a service is not ready; not running when no service lives. */
export function statusExit(view: StatusView): ExitCode {
  if (!view.services.some((s) => s.state !== 'gone' && s.state !== 'stopped')) return EXIT.notRunning;
  const well = view.conditions.length === 0 && view.services.every((s) => s.state === 'ready');
  return well ? EXIT.ok : EXIT.unhealthy;
}
