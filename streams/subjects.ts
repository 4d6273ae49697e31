/**
 * Every subject of Headwater, built and parsed here and nowhere else. Group names come last: their dots are tokens.
 * `<origin>` follows the verb where several kinds of service may publish.
 */
import { Backbone, Group, isBackbone, isGroup, LANES, type Lane, RangeId } from './ids.ts';
import { SERVICES, type ServiceKind } from './services.ts';

/** The group token of a plan that carries ranges of several groups of a backbone. */
export const MANY_GROUPS = '_many_' as Group;

/** A parsed subject: `verb` names the shape, the other fields are what the subject carries. */
export type Subject =
  | { readonly verb: 'control.groups' | 'control.garbage'; readonly origin: ServiceKind }
  | { readonly verb: RangeVerb; readonly lane: Lane; readonly backbone: Backbone; readonly group: Group }
  | {
      readonly verb: 'range.failed';
      readonly origin: ServiceKind;
      readonly lane: Lane;
      readonly backbone: Backbone;
      readonly group: Group;
    }
  | { readonly verb: 'range.retried' | 'range.wanted'; readonly origin: ServiceKind; readonly backbone: Backbone }
  | { readonly verb: 'range.marks'; readonly backbone: Backbone }
  | {
      readonly verb: 'overview';
      readonly backbone: Backbone;
      readonly rangeId: RangeId;
      readonly run: number;
      readonly group: Group;
    }
  | { readonly verb: GroupVerb; readonly backbone: Backbone; readonly group: Group }
  | {
      readonly verb: 'release.seen';
      readonly origin: ServiceKind;
      readonly backbone: Backbone;
      readonly group: Group;
    }
  | { readonly verb: 'release.settled' }
  | { readonly verb: 'ops.service'; readonly service: ServiceKind }
  | { readonly verb: 'ops.incident.opened' | 'ops.incident.closed'; readonly origin: ServiceKind };

type RangeVerb = 'range.planned' | 'range.fetched' | 'range.parsed' | 'range.retired';
type GroupVerb =
  | 'release.opened'
  | 'release.fragments'
  | 'release.merged'
  | 'probe.candidates'
  | 'chunks.opened'
  | 'chunks.written'
  | 'chunks.merged';
export type SubjectVerb = Subject['verb'];

const never = (value: never): never => {
  throw new TypeError(`unhandled subject ${JSON.stringify(value)}`);
};

/** The wire form of a subject. */
export function formatSubject(s: Subject): string {
  switch (s.verb) {
    case 'control.groups':
    case 'control.garbage':
    case 'ops.incident.opened':
    case 'ops.incident.closed':
      return `${s.verb}.${s.origin}`;
    case 'range.planned':
    case 'range.fetched':
    case 'range.parsed':
    case 'range.retired':
      return `${s.verb}.${s.lane}.${s.backbone}.${s.group}`;
    case 'range.failed':
      return `${s.verb}.${s.origin}.${s.lane}.${s.backbone}.${s.group}`;
    case 'range.retried':
    case 'range.wanted':
      return `${s.verb}.${s.origin}.${s.backbone}`;
    case 'range.marks':
      return `${s.verb}.${s.backbone}`;
    case 'overview':
      return `overview.${s.backbone}.${s.rangeId}.${s.run}.${s.group}`;
    case 'release.opened':
    case 'release.fragments':
    case 'release.merged':
    case 'probe.candidates':
    case 'chunks.opened':
    case 'chunks.written':
    case 'chunks.merged':
      return `${s.verb}.${s.backbone}.${s.group}`;
    case 'release.seen':
      return `${s.verb}.${s.origin}.${s.backbone}.${s.group}`;
    case 'release.settled':
      return s.verb;
    case 'ops.service':
      return `${s.verb}.${s.service}`;
    default:
      return never(s);
  }
}

const isLane = (value: string): value is Lane => (LANES as readonly string[]).includes(value);
const isService = (value: string): value is ServiceKind => (SERVICES as readonly string[]).includes(value);

/** Takes the tokens of a subject from the left; every `take` either advances or marks the whole subject as unknown. */
class Tokens {
  readonly #tokens: readonly string[];
  #at = 0;
  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }
  take(): string {
    return this.#tokens[this.#at++] ?? '';
  }
  rest(): string {
    const rest = this.#tokens.slice(this.#at).join('.');
    this.#at = this.#tokens.length;
    return rest;
  }
  get done(): boolean {
    return this.#at === this.#tokens.length;
  }
}

/** A subject that is none of ours; internal, `parseSubject` turns it into null. */
class NotOurs extends Error {}
const must = <T extends string>(value: string, is: (v: string) => v is T): T => {
  if (!is(value)) throw new NotOurs();
  return value;
};

const origin = (t: Tokens): ServiceKind => must(t.take(), isService);
const lane = (t: Tokens): Lane => must(t.take(), isLane);
const backbone = (t: Tokens): Backbone => Backbone(must(t.take(), isBackbone));
const group = (t: Tokens): Group => Group(must(t.rest(), isGroup));

function rangeId(t: Tokens): RangeId {
  const value = t.take();
  RangeId.parse(value);
  return value as RangeId;
}

function run(t: Tokens): number {
  const value = t.take();
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new NotOurs();
  return Number(value);
}

const PARSERS: Readonly<Record<SubjectVerb, (t: Tokens) => Subject>> = {
  'control.groups': (t) => ({ verb: 'control.groups', origin: origin(t) }),
  'control.garbage': (t) => ({ verb: 'control.garbage', origin: origin(t) }),
  'range.planned': (t) => ({ verb: 'range.planned', lane: lane(t), backbone: backbone(t), group: group(t) }),
  'range.fetched': (t) => ({ verb: 'range.fetched', lane: lane(t), backbone: backbone(t), group: group(t) }),
  'range.parsed': (t) => ({ verb: 'range.parsed', lane: lane(t), backbone: backbone(t), group: group(t) }),
  'range.retired': (t) => ({ verb: 'range.retired', lane: lane(t), backbone: backbone(t), group: group(t) }),
  'range.failed': (t) => ({
    verb: 'range.failed',
    origin: origin(t),
    lane: lane(t),
    backbone: backbone(t),
    group: group(t),
  }),
  'range.retried': (t) => ({ verb: 'range.retried', origin: origin(t), backbone: backbone(t) }),
  'range.wanted': (t) => ({ verb: 'range.wanted', origin: origin(t), backbone: backbone(t) }),
  'range.marks': (t) => ({ verb: 'range.marks', backbone: backbone(t) }),
  overview: (t) => ({ verb: 'overview', backbone: backbone(t), rangeId: rangeId(t), run: run(t), group: group(t) }),
  'release.opened': (t) => ({ verb: 'release.opened', backbone: backbone(t), group: group(t) }),
  'release.seen': (t) => ({ verb: 'release.seen', origin: origin(t), backbone: backbone(t), group: group(t) }),
  'release.fragments': (t) => ({ verb: 'release.fragments', backbone: backbone(t), group: group(t) }),
  'release.merged': (t) => ({ verb: 'release.merged', backbone: backbone(t), group: group(t) }),
  'release.settled': () => ({ verb: 'release.settled' }),
  'probe.candidates': (t) => ({ verb: 'probe.candidates', backbone: backbone(t), group: group(t) }),
  'chunks.opened': (t) => ({ verb: 'chunks.opened', backbone: backbone(t), group: group(t) }),
  'chunks.written': (t) => ({ verb: 'chunks.written', backbone: backbone(t), group: group(t) }),
  'chunks.merged': (t) => ({ verb: 'chunks.merged', backbone: backbone(t), group: group(t) }),
  'ops.service': (t) => ({ verb: 'ops.service', service: origin(t) }),
  'ops.incident.opened': (t) => ({ verb: 'ops.incident.opened', origin: origin(t) }),
  'ops.incident.closed': (t) => ({ verb: 'ops.incident.closed', origin: origin(t) }),
};

/** Every verb, longest first, so that no verb hides behind a shorter one. */
export const SUBJECT_VERBS = (Object.keys(PARSERS) as SubjectVerb[]).sort((a, b) => b.length - a.length);

/** The subject that `formatSubject` would write as `text`, or null when it is none of ours. */
export function parseSubject(text: string): Subject | null {
  const verb = SUBJECT_VERBS.find((v) => text === v || text.startsWith(`${v}.`));
  if (verb === undefined) return null;
  const tokens = new Tokens(text === verb ? [] : text.slice(verb.length + 1).split('.'));
  try {
    const subject = PARSERS[verb](tokens);
    return tokens.done ? subject : null;
  } catch (error) {
    if (error instanceof NotOurs || error instanceof RangeError) return null;
    throw error;
  }
}
