import { Type } from 'typebox';
import { decodeFragments, encodeFragments } from '../codec/fragments.ts';
import { decodeMerges, encodeMerges } from '../codec/merges.ts';
import { decodeContributions, encodeContributions } from '../codec/releaseSeen.ts';
import type { EpochMs, ReleaseId, ReleaseKey } from '../ids.ts';
import type { Contribution, Fragments, Merge } from '../records.ts';
import { bulkEvent, jsonEvent } from './define.ts';
import {
  backboneSchema,
  closed,
  countSchema,
  digestSchema,
  epochSchema,
  groupSchema,
  numberSchema,
  ordinalSchema,
  positionSchema,
  rangeIdSchema,
  serviceKindSchema,
  timeSchema,
} from './schemas.ts';

/** The fields that name one message of merges: the digest is that of its body and revision. */
export const mergeFields = {
  backbone: backboneSchema,
  group: groupSchema,
  epoch: epochSchema,
  /** The RELEASES position that the decision rests on: of merges that share a piece the one with the higher lives. */
  revision: positionSchema,
  digest: digestSchema,
} as const;

export const mergesOf = (d: { backbone: string; group: string; epoch: number; digest: string }): string =>
  `${d.backbone}/${d.group}/${d.epoch}/${d.digest}`;

/** The fields that name one pass over one run of a range: the source of contributions and chunks. */
export const passFields = {
  backbone: backboneSchema,
  group: groupSchema,
  epoch: epochSchema,
  rangeId: rangeIdSchema,
  run: ordinalSchema,
  pass: ordinalSchema,
} as const;

export const passOf = (d: { backbone: string; group: string; rangeId: string; run: number; pass: number }): string =>
  `${d.backbone}/${d.group}/${d.rangeId}/${d.run}/${d.pass}`;

export const openedSchema = Type.Object({ ...passFields, lo: numberSchema, hi: numberSchema }, closed);
export type PassOpened = Type.Static<typeof openedSchema>;

/** A pass begins: everything of a lower (run, pass) of this range is withdrawn. */
export const releaseOpened = jsonEvent({
  type: 'release.opened',
  version: 1,
  stream: 'RELEASES',
  schema: openedSchema,
  subject: (d) => ({ verb: 'release.opened', backbone: d.backbone, group: d.group }),
  about: passOf,
});

const seenSchema = Type.Object(
  {
    origin: serviceKindSchema,
    ...passFields,
    /** Counts the messages of the pass, from 0. */
    k: countSchema,
  },
  closed,
);

/** What a pass learned about releases, many contributions a message. */
export const releaseSeen = bulkEvent({
  type: 'release.seen',
  version: 1,
  stream: 'RELEASES',
  schema: seenSchema,
  encodeBody: (body: readonly Contribution[]) => encodeContributions(body),
  decodeBody: (bytes) => decodeContributions(bytes),
  subject: (d) => ({ verb: 'release.seen', origin: d.origin, backbone: d.backbone, group: d.group }),
  about: (d) => `${passOf(d)}/${d.k}`,
});
export type ReleaseSeen = ReturnType<typeof releaseSeen.decode>;

const passMessage = Type.Object({ ...passFields, k: countSchema }, closed);

/** What the edges of a pass's range may have cut, many pieces a message. */
export const releaseFragments = bulkEvent({
  type: 'release.fragments',
  version: 1,
  stream: 'RELEASES',
  schema: passMessage,
  encodeBody: (body: Fragments) => encodeFragments(body),
  decodeBody: (bytes) => decodeFragments(bytes),
  subject: (d) => ({ verb: 'release.fragments', backbone: d.backbone, group: d.group }),
  about: (d) => `${passOf(d)}/${d.k}`,
});
export type ReleaseFragments = ReturnType<typeof releaseFragments.decode>;

/** Pieces brought together: each a contribution of its own, in place of earlier merges that share a piece with it. */
export const releaseMerged = bulkEvent({
  type: 'release.merged',
  version: 1,
  stream: 'RELEASES',
  schema: Type.Object(mergeFields, closed),
  encodeBody: (body: readonly Merge[]) => encodeMerges(body),
  decodeBody: (bytes) => decodeMerges(bytes),
  subject: (d) => ({ verb: 'release.merged', backbone: d.backbone, group: d.group }),
  about: mergesOf,
});
export type ReleaseMerged = ReturnType<typeof releaseMerged.decode>;

const settlementSchema = Type.Object(
  {
    releaseId: Type.Unsafe<ReleaseId>(digestSchema),
    key: Type.Unsafe<ReleaseKey>(digestSchema),
    setHash: digestSchema,
    firstAt: Type.Unsafe<EpochMs>(timeSchema),
    lastAt: Type.Unsafe<EpochMs>(timeSchema),
    files: countSchema,
    filesComplete: countSchema,
    segments: countSchema,
    segmentsTotal: countSchema,
    bytes: countSchema,
    par2Files: countSchema,
    par2Segments: countSchema,
    par2SegmentsTotal: countSchema,
    par2Bytes: countSchema,
  },
  closed,
);

/** Releases of which nothing more is to come, with the figures of their union. Each holds for just its set of contributions. */
export const releaseSettled = jsonEvent({
  type: 'release.settled',
  version: 1,
  stream: 'RELEASES',
  schema: Type.Object(
    { digest: digestSchema, releases: Type.Array(settlementSchema, { minItems: 1, maxItems: 1000 }) },
    closed,
  ),
  subject: () => ({ verb: 'release.settled' }),
  about: (d) => d.digest,
});
export type ReleaseSettled = ReturnType<typeof releaseSettled.decode>;
