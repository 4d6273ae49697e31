/** What the package zstd-codec 0.1.5, which has no types of its own, offers to us. */
declare module 'zstd-codec' {
  export interface ZstdSimple {
    /** The frame (with its content size), or null on failure. Level 1 to 22. */
    compress(bytes: Uint8Array, level?: number): Uint8Array | null;
    /** The content, or null when the frame is corrupt or states no content size. */
    decompress(bytes: Uint8Array): Uint8Array | null;
  }
  interface ZstdBinding {
    readonly Simple: new () => ZstdSimple;
  }
  /** Makes a new wasm instance of 16 MiB on every call. */
  export const ZstdCodec: { run(onReady: (zstd: ZstdBinding) => void): void };
}
