/** Bytes that a message has besides its items: version, frame, count, checksum. */
const MESSAGE_OVERHEAD = 32;

/** Cuts a list, in order, into slices whose sizes sum to at most `limit`; an item larger than that is a slice of its own. */
export const sliceList = <T>(list: readonly T[], limit: number, sizeOf: (item: T) => number): T[][] => {
  const slices: T[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const item of list) {
    const added = sizeOf(item);
    if (size + added > limit) {
      slices.push([]);
      size = MESSAGE_OVERHEAD;
    }
    slices.at(-1)!.push(item);
    size += added;
  }
  return slices;
};
