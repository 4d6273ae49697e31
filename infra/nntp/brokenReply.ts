/** Why a compressed reply cannot be trusted. The reader above makes an operating error of it and breaks the connection. */
export class BrokenReply extends Error {
  override readonly name = 'BrokenReply';
}
