/** What a history says in the end: releases with their segment lists, held against what the streams hold. */

import type { DueContribution, DueRelease } from '../../../processors/settle/ports.ts';
import { settlementOf, sharedHashes, shareOf, unionFigures } from '../../../processors/settle/settlement.ts';
import { decodeChunk } from '../../../streams/codec/chunk.ts';
import type { StoredEvent } from '../../../streams/envelope.ts';
import { EVENTS, makeEvent } from '../../../streams/events/index.ts';
import { EpochMs } from '../../../streams/ids.ts';
import { type ContributionName, nameOfContribution, settlementDigest } from '../../../streams/merges.ts';
import type { ChunkFile, Contribution } from '../../../streams/records.ts';
import { unionOf } from '../../../streams/union.ts';
import { type ModelCatalog, type ModelRelease, modelCatalog } from '../../kit/catalogModel.ts';
import type { History } from './history.ts';

type Place = Pick<DueContribution, 'backbone' | 'group' | 'epoch'>;
const keyed = (name: ContributionName, key: string): string => `${nameOfContribution(name)}/${key}`;

/** Contributions and segment lists by what names them. They are never changed, so all that was ever said is kept. */
export class Said {
  readonly contributions = new Map<string, { readonly place: Place; readonly c: Contribution }>();
  readonly files = new Map<string, ChunkFile[]>();
  #releases = 0;
  #chunks = 0;

  read(history: History): void {
    for (const { event } of history.releases.slice(this.#releases)) this.#release(event);
    for (const { event } of history.chunks.slice(this.#chunks)) this.#chunk(event);
    this.#releases = history.releases.length;
    this.#chunks = history.chunks.length;
  }

  #release(event: StoredEvent['event']): void {
    if (event.type === 'release.seen') {
      for (const c of event.data.body)
        this.contributions.set(keyed({ ...event.data, posting: c.posting }, c.key), { place: event.data, c });
    }
    if (event.type === 'release.merged') {
      for (const { mergeId, contribution: c } of event.data.body)
        this.contributions.set(keyed({ mergeId }, c.key), { place: event.data, c });
    }
  }

  #chunk(event: StoredEvent['event']): void {
    if (event.type === 'chunks.written') {
      for (const chunk of event.data.body)
        this.#add(keyed({ ...event.data, posting: chunk.posting }, chunk.key), chunk.payload);
    }
    if (event.type === 'chunks.merged') {
      for (const { mergeId, chunks } of event.data.body) {
        const [first] = chunks;
        if (!first || this.files.has(keyed({ mergeId }, first.key))) continue;
        for (const chunk of chunks) this.#add(keyed({ mergeId }, chunk.key), chunk.payload);
      }
    }
  }

  #add(name: string, payload: Uint8Array): void {
    this.files.set(name, [...(this.files.get(name) ?? []), ...decodeChunk(payload)]);
  }

  filesOf(key: string, names: readonly ContributionName[]): ChunkFile[] {
    return names.flatMap((name) => this.files.get(keyed(name, key)) ?? []);
  }

  due(key: string, name: ContributionName): DueContribution {
    const said = this.contributions.get(keyed(name, key));
    if (!said) throw new Error(`nobody said ${keyed(name, key)}`);
    const { backbone, group, epoch } = said.place;
    return { ...said.c, name, backbone, group, epoch };
  }
}

/** Settles every release of the catalog as it is now, the way the settle processor works it out. */
export function settleAll(history: History, said: Said): void {
  said.read(history);
  const { releases, names } = modelCatalog(history.releases);
  for (const { id, key } of releases) {
    const contributions = names.get(id)!.map((name) => said.due(key, name));
    const release: DueRelease = {
      releaseId: id,
      key: key as never,
      settleDueAt: EpochMs(history.clock),
      contributions,
    };
    const shared = sharedHashes(contributions);
    const held = contributions.map((c) => said.filesOf(key, [c.name]).filter((f) => shared.has(f.fileHash)));
    const shares = shared.size > 0 ? [shareOf(held)] : [];
    const settlement = settlementOf(release, unionFigures(contributions, shares));
    const body = { digest: settlementDigest([settlement]), releases: [settlement] };
    history.say(makeEvent(EVENTS['release.settled'], EpochMs(history.clock), body));
  }
}

export interface Outcome {
  /** One line a release, sorted: everything that is shown of it but its id, and its NZB. */
  readonly lines: readonly string[];
  readonly catalog: ModelCatalog;
}

const shown = ({ id: _, settleDueAt: __, ...rest }: ModelRelease): string => JSON.stringify(rest);

export function outcomeOf(history: History, said: Said): Outcome {
  said.read(history);
  const catalog = modelCatalog(history.releases);
  const lines = catalog.releases.map((release) => {
    const files = unionOf(said.filesOf(release.key, catalog.names.get(release.id)!));
    return `${shown(release)}\n  ${files.map((f) => JSON.stringify(f)).join('\n  ')}`;
  });
  return { lines: lines.sort(), catalog };
}

/** Message-ids of the segments of a release's contributions, by backbone and group. */
export function idsOf(said: Said, key: string, names: readonly ContributionName[]): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const name of names) {
    const { backbone, group } = said.due(key, name);
    const place = `${backbone}/${group}`;
    const own = said.filesOf(key, [name]).flatMap((f) => f.segments.map((s) => s.messageId as string));
    ids.set(place, [...(ids.get(place) ?? []), ...own]);
  }
  return ids;
}
