/** The streaming decoder inside the package zstd-codec 0.1.5, which has no types of its own. */
declare module 'zstd-codec/lib/module.js' {
  interface DecompressStream {
    begin(): boolean;
    /** Gives what the bytes unpack to, in pieces; false when they are damaged. Throws when its memory is too small. */
    transform(bytes: Uint8Array, onPiece: (unpacked: Uint8Array) => void): boolean;
    end(onPiece: (unpacked: Uint8Array) => void): boolean;
    delete(): void;
  }
  export interface ZstdModule {
    readonly ZstdDecompressStreamBinding: new () => DecompressStream;
  }
  /** Makes a new wasm instance of 16 MiB on every call. */
  export function run(onReady: (module: ZstdModule) => void): void;
}
