import { HeadwaterError } from '../../infra/base/errors/index.ts';
import type { Conditions } from '../ports.ts';
import type { OpenUnit } from './ports.ts';

const ABOUT = 'fragments/too-large';

/** Units are walked by kind, a kind over one or several rounds; a walk that met no such unit tells that all are gone. */
type Kind = 'complete' | 'others';

/** The condition that some unit is too large for a merge: open from the first one met until walks through all units meet none. */
export class TooLargeUnits {
  readonly #conditions: Conditions;
  readonly #met = { complete: false, others: false };
  readonly #metBefore = { complete: false, others: false };
  #open = false;

  constructor(conditions: Conditions) {
    this.#conditions = conditions;
  }

  meet({ group, fileHash, complete, payloadBytes: bytes }: OpenUnit): void {
    this.#met[complete ? 'complete' : 'others'] = true;
    this.#open = true;
    this.#conditions.report(ABOUT, new HeadwaterError('FRAGMENTS_MERGE_TOO_LARGE', { group, fileHash, bytes }));
  }

  /** All units of this kind were seen since the last call. */
  walked(kind: Kind): void {
    this.#metBefore[kind] = this.#met[kind];
    this.#met[kind] = false;
    const all = [this.#met, this.#metBefore];
    if (!this.#open || all.some(({ complete, others }) => complete || others)) return;
    this.#open = false;
    this.#conditions.clear(ABOUT);
  }
}
