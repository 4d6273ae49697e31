/**
 * What events make of fragments. Pure, knows nothing of SQL: `project.ts` runs it over what a batch touches, models and tests
 * over everything.
 */
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { RangeId } from '../../streams/ids.ts';
import { type Place, placeText } from './held.ts';
import { type LoadedNumbering, NumberingState } from './numbering.ts';
import { type Unit, unitsOf } from './units.ts';

/** A unit and where it is. */
export interface PlacedUnit extends Unit {
  readonly place: Place;
  readonly fileHash: string;
}

export class FragmentsState {
  readonly #numberings = new Map<string, NumberingState>();

  /** `loaded`: all that the events to come may touch; nothing for a state that begins with the first event. */
  constructor(loaded: Iterable<LoadedNumbering> = []) {
    for (const numbering of loaded) this.#numberings.set(placeText(numbering.place), new NumberingState(numbering));
  }

  /** Events of other types change nothing. */
  apply(event: HeadwaterEvent): void {
    switch (event.type) {
      case 'release.opened':
        this.#at(event.data).accept(event.data);
        return;
      case 'release.fragments': {
        const { k, body, ...pass } = event.data;
        const numbering = this.#at(pass);
        if (numbering.accept(pass)) numbering.fragments(passOf(pass), k, body);
        return;
      }
      case 'release.merged':
        for (const merge of event.data.body) this.#at(event.data).merged(event.data.revision, merge);
        return;
    }
  }

  numberings(): Iterable<NumberingState> {
    return this.#numberings.values();
  }

  /** Every unit, open or not. */
  *units(): Generator<PlacedUnit> {
    for (const { place, files } of this.#numberings.values()) {
      for (const [fileHash, file] of files) {
        for (const unit of unitsOf(place, fileHash, file)) yield { ...unit, place, fileHash };
      }
    }
  }

  #at({ backbone, group, epoch }: Place): NumberingState {
    const place = { backbone, group, epoch };
    const text = placeText(place);
    let numbering = this.#numberings.get(text);
    if (!numbering) {
      numbering = new NumberingState({ place, pairs: new Map(), files: new Map(), blobs: [] });
      this.#numberings.set(text, numbering);
    }
    return numbering;
  }
}

const passOf = ({ rangeId, run, pass }: { rangeId: RangeId; run: number; pass: number }) => ({ rangeId, run, pass });
