import type { Backbone } from '../../streams/ids.ts';
import type { ArticlesPool } from '../ports.ts';

/** The pools by their backbone, in the order in which backbones first appear. */
export function byBackbone(pools: readonly ArticlesPool[]): ReadonlyMap<Backbone, readonly ArticlesPool[]> {
  const found = new Map<Backbone, ArticlesPool[]>();
  for (const pool of pools) found.set(pool.backbone, [...(found.get(pool.backbone) ?? []), pool]);
  return found;
}
