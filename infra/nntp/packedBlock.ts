import type { PackedForm } from './bodyForm.ts';
import { BrokenReply } from './brokenReply.ts';
import { DotBlock } from './dotBlock.ts';
import { Member } from './member.ts';
import { YencMember } from './yencMember.ts';

export interface PackedLimits {
  readonly lineBytes: number;
  /** What the whole block may be after inflation. */
  readonly inflatedBytes: number;
}

export interface Unpacked {
  /** Buffers of whole lines, each line ended by CRLF, dots unstuffed. */
  readonly lines: readonly Buffer[];
  /** Bytes behind the block. A terminator outside of the member may be the first of them. */
  readonly rest: Buffer;
}

/**
 * A multi-line block inside one compressed member. Nothing of it is given out before its end has been seen and its
 * checksum verified: a broken reply must not leave lines behind, because it is asked for again.
 */
export class PackedBlock {
  readonly #limits: PackedLimits;
  readonly #member: Member | YencMember;
  readonly #block: DotBlock;
  readonly #lines: Buffer[] = [];
  #inflated = 0;
  /** Whether the terminator came from inside. */
  #ended = false;

  constructor(form: PackedForm, limits: PackedLimits) {
    this.#limits = limits;
    this.#block = new DotBlock(limits.lineBytes);
    const take = (bytes: Buffer) => this.#take(bytes);
    this.#member = form === 'yenc' ? new YencMember(take) : new Member(form, take);
  }

  /** Null while more is needed. Rejects with `BrokenReply`. */
  async feed(bytes: Buffer): Promise<Unpacked | null> {
    const rest = (await this.#member.feed(bytes)) ?? this.#restOfRaw();
    if (rest === null) return null;
    if (!this.#ended && this.#block.unfinished) throw new BrokenReply('its last line is cut');
    return { lines: this.#lines, rest };
  }

  close(): void {
    this.#member.close();
  }

  /** A bare raw member has no trailer behind which its end would show: after the terminator it is looked for. */
  #restOfRaw(): Buffer | null {
    const member = this.#member;
    return this.#ended && member instanceof Member && member.isWholeRaw() ? Buffer.alloc(0) : null;
  }

  #take(bytes: Buffer): void {
    this.#inflated += bytes.length;
    const { inflatedBytes, lineBytes } = this.#limits;
    if (this.#inflated > inflatedBytes) throw new BrokenReply(`it inflates to more than ${inflatedBytes} bytes`);
    if (this.#ended) throw new BrokenReply('something follows its last line');
    try {
      const { lines, rest } = this.#block.feed(bytes);
      for (const piece of lines) this.#lines.push(piece);
      this.#ended = rest !== null;
      if (rest !== null && rest.length > 0) throw new BrokenReply('something follows its last line');
    } catch (error) {
      throw error instanceof RangeError ? new BrokenReply(`a line of more than ${lineBytes} bytes`) : error;
    }
  }
}
