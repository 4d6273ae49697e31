import { catalog } from './catalog/index.ts';
import { chunks } from './chunks/index.ts';
import { control } from './control/index.ts';
import { fragments } from './fragments/index.ts';
import { probes } from './probes/index.ts';
import type { Projection } from './projection.ts';
import { ranges } from './ranges/index.ts';

/** Every projection there is. A new one is added here; nothing registers itself. */
export const PROJECTIONS: readonly Projection[] = [control, ranges, chunks, catalog, probes, fragments];
