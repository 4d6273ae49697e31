/**
 * The connections that an account may have at once, over all processes of Headwater. Every socket needs one slot of it, from
 * before it is opened until after it is closed.
 */
export interface AccountSlots {
  /** Resolves once a slot is free and nobody waited for it longer. Rejects with the signal's reason or a typed error. */
  take(signal: AbortSignal): Promise<AccountSlot>;
}

export interface AccountSlot {
  /** Aborts, with a typed error, when the slot is no longer ours: its connection must break at once. */
  readonly lost: AbortSignal;
  /** Whether somebody else waits for a slot of the account: a connection that nobody uses is then not kept. */
  readonly wanted: boolean;
  /** Gives it back, once. Never rejects. */
  give(): void | Promise<void>;
}
