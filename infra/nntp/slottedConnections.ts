import type { AccountSlot, AccountSlots } from './accountSlots.ts';
import type { Connection } from './connection.ts';

/** How often kept connections are looked at for whether their slot is wanted. */
const LOOK_MS = 250;

/** The connections of a pool with the slots that they stand on. Without `slots` there is nothing to wait for. */
export class SlottedConnections {
  readonly #slots: AccountSlots | null;
  readonly #slotOf = new WeakMap<Connection, AccountSlot>();
  readonly #held = new Set<Promise<void>>();

  constructor(slots: AccountSlots | null) {
    this.#slots = slots;
  }

  get lookMs(): number {
    return this.#slots === null ? Number.POSITIVE_INFINITY : LOOK_MS;
  }

  /** Takes a slot, then opens. `open` must reject only after its socket is gone. */
  async open(open: (signal: AbortSignal) => Promise<Connection>, signal: AbortSignal): Promise<Connection> {
    if (this.#slots === null) return await open(signal);
    const slot = await this.#slots.take(signal);
    const opening = open(AbortSignal.any([signal, slot.lost]));
    this.#giveBack(opening, slot);
    const connection = await opening;
    this.#slotOf.set(connection, slot);
    return connection;
  }

  wanted(connection: Connection): boolean {
    return this.#slotOf.get(connection)?.wanted ?? false;
  }

  /** Resolves when every slot is given back. The connections must be leaving or broken already. */
  async allGiven(): Promise<void> {
    await Promise.all(this.#held);
  }

  #giveBack(opening: Promise<Connection>, slot: AccountSlot): void {
    const held = (async () => {
      const connection = await opening.catch(() => null);
      if (connection !== null) {
        const onLost = () => connection.break(slot.lost.reason);
        slot.lost.addEventListener('abort', onLost, { once: true });
        if (slot.lost.aborted) onLost();
        await connection.gone;
        slot.lost.removeEventListener('abort', onLost);
      }
      await slot.give();
    })().finally(() => this.#held.delete(held));
    this.#held.add(held);
  }
}
