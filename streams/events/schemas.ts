/** The pieces that the schemas of several events share. Each is Unsafe only in its brand: the check is the real one. */
import { Type } from 'typebox';
import type { RangeId } from '../ids.ts';
import { type ArticleNumber, type Backbone, type Epoch, type EpochMs, type Group, LANES, type Lane } from '../ids.ts';
import type { Interval } from '../records.ts';
import { SERVICES, type ServiceKind } from '../services.ts';

const closed = { additionalProperties: false } as const;

export const groupSchema = Type.Unsafe<Group>(Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\s]+$' }));
export const backboneSchema = Type.Unsafe<Backbone>(Type.String({ pattern: '^[a-z0-9-]{1,40}$' }));
export const numberSchema = Type.Unsafe<ArticleNumber>(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
export const epochSchema = Type.Unsafe<Epoch>(Type.Integer({ minimum: 0 }));
export const timeSchema = Type.Unsafe<EpochMs>(Type.Integer());
export const laneSchema = Type.Unsafe<Lane>(Type.Union(LANES.map((lane) => Type.Literal(lane))));
/** A kind of service: who appended the event, where several may. */
export const serviceKindSchema = Type.Unsafe<ServiceKind>(Type.Union(SERVICES.map((s) => Type.Literal(s))));
export const rangeIdSchema = Type.Unsafe<RangeId>(Type.String({ pattern: '^\\d{1,9}-\\d{1,16}-\\d{1,16}$' }));
export const countSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const ordinalSchema = Type.Integer({ minimum: 1, maximum: 999_999_999 });
export const intervalSchema = Type.Unsafe<Interval>(Type.Tuple([numberSchema, numberSchema]));
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** The fields that name one run of a range, as every event about it carries them. */
export const rangeFields = {
  lane: laneSchema,
  backbone: backboneSchema,
  group: groupSchema,
  epoch: epochSchema,
  rangeId: rangeIdSchema,
  lo: numberSchema,
  hi: numberSchema,
  run: ordinalSchema,
} as const;

export const positionSchema = Type.Object({ number: Type.Integer({ minimum: 0 }), sequence: countSchema }, closed);

/** What a range was planned with: a replay parses it with what was valid then. */
export const planVersions = {
  /** Version of the group list (main groups follow from it). */
  listVersion: countSchema,
  /** Version of the garbage table; 0 before there is one. */
  garbageVersion: countSchema,
} as const;

/** 128 bits in hex: what tells one message of a bulk event from another by its content. */
export const digestSchema = Type.String({ pattern: '^[0-9a-f]{32}$' });

export { closed };
