/** The identities that projections and processors work out alike: of a merge, and of the set of contributions of a release. */
import { createHash } from 'node:crypto';
import { type Backbone, type Epoch, type Group, MergeId, type Position, type RangeId } from './ids.ts';
import type { MergeSource } from './records.ts';

const digest = (text: string | Uint8Array, more?: Uint8Array): string => {
  const hash = createHash('sha256').update(text);
  if (more) hash.update(more);
  return hash.digest('hex').slice(0, 32);
};

const compareSources = (a: MergeSource, b: MergeSource): number => {
  if (a.rangeId !== b.rangeId) return a.rangeId < b.rangeId ? -1 : 1;
  return a.run - b.run || a.pass - b.pass || a.posting - b.posting;
};

export const sortedSources = (sources: readonly MergeSource[]): MergeSource[] => [...sources].sort(compareSources);

/** Names a merge by its file and its pieces, in whatever order they come; never by when it was decided. */
export function mergeIdOf(
  place: { readonly backbone: Backbone; readonly group: Group; readonly epoch: Epoch },
  fileHash: string,
  sources: readonly MergeSource[],
): MergeId {
  const pieces = sortedSources(sources).map((s) => `${s.rangeId}/${s.run}/${s.pass}/${s.posting}`);
  return MergeId(digest(`${place.backbone}/${place.group}/${place.epoch}/${fileHash}/${pieces.join(',')}`));
}

/** What tells one message of merges from another: its revision and its encoded body. */
export const mergesDigest = (revision: Position, body: Uint8Array): string =>
  digest(`${revision.number}-${revision.sequence}/`, body);

/** One live contribution, as `setHashOf` names it. */
export type ContributionName =
  | {
      readonly backbone: Backbone;
      readonly group: Group;
      readonly rangeId: RangeId;
      readonly run: number;
      readonly pass: number;
      readonly posting: number;
    }
  | { readonly mergeId: MergeId };

export const nameOfContribution = (c: ContributionName): string =>
  'mergeId' in c ? c.mergeId : `${c.backbone}/${c.group}/${c.rangeId}/${c.run}/${c.pass}/${c.posting}`;

/** 32 hex digits over the names of a release's live contributions, sorted by their bytes and joined by line feeds. */
export const setHashOf = (contributions: readonly ContributionName[]): string => {
  const names = contributions.map((c) => Buffer.from(nameOfContribution(c), 'utf8')).sort(Buffer.compare);
  return digest(names.map((name) => name.toString('utf8')).join('\n'));
};

/** What tells one message of settlements from another. */
export const settlementDigest = (releases: readonly unknown[]): string => digest(JSON.stringify(releases));
