import { Type } from 'typebox';
import { decodeCandidates, encodeCandidates } from '../codec/probeCandidates.ts';
import type { ProbeCandidate } from '../records.ts';
import { bulkEvent } from './define.ts';
import { passFields, passOf } from './releases.ts';
import { closed, countSchema } from './schemas.ts';

/** Articles that phase 2 should read, as a pass sees them. The best of all contributions are chosen by the projection. */
export const probeCandidates = bulkEvent({
  type: 'probe.candidates',
  version: 1,
  stream: 'RELEASES',
  schema: Type.Object({ ...passFields, k: countSchema }, closed),
  encodeBody: (body: readonly ProbeCandidate[]) => encodeCandidates(body),
  decodeBody: (bytes) => decodeCandidates(bytes),
  subject: (d) => ({ verb: 'probe.candidates', backbone: d.backbone, group: d.group }),
  about: (d) => `${passOf(d)}/${d.k}`,
});
export type ProbeCandidates = ReturnType<typeof probeCandidates.decode>;
