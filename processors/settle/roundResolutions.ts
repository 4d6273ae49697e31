import type { Position } from '../../streams/ids.ts';
import { type Resolution, type ResolvedNumbers, resolutionAround } from '../resolution.ts';
import type { DueContribution, DueRelease } from './ports.ts';
import { lastAtOf } from './settlement.ts';

/** What is resolved, read once a round for each numbering: many releases lie in the same ones. */
export class RoundResolutions {
  readonly #numbers: ResolvedNumbers;
  readonly #projected: Position;
  readonly #read = new Map<string, Resolution>();

  constructor(numbers: ResolvedNumbers, projected: Position) {
    this.#numbers = numbers;
    this.#projected = projected;
  }

  /** Whether nothing more is to come around any contribution of the release. */
  async isResolved(release: DueRelease): Promise<boolean> {
    const lastAt = lastAtOf(release);
    for (const c of release.contributions) {
      const resolution = await this.#of(c);
      if (resolutionAround(resolution, [c.firstNumber, c.lastNumber], lastAt) === null) return false;
    }
    return true;
  }

  async #of({ backbone, group, epoch }: DueContribution): Promise<Resolution> {
    const name = `${backbone}/${group}/${epoch}`;
    const known = this.#read.get(name);
    if (known) return known;
    const resolution = await this.#numbers.of(backbone, group, epoch, this.#projected);
    this.#read.set(name, resolution);
    return resolution;
  }
}
