import type { GarbageSignature } from '../../streams/events/control.ts';
import { compileGlob, type Glob, globMatches, tailFits } from './glob.ts';
import { readText } from './text.ts';
import { readTool, TOOLS, type Tool } from './tools.ts';

/**
 * The table before the operator has one. It drops nothing that could ever become a release: a sender that ngPost makes anew
 * for every article comes with a subject that is new as well, and the other ids are those of servers made for tests.
 */
export const DEFAULT_GARBAGE: readonly GarbageSignature[] = [
  { signature: 'ngpost-article', field: 'poster', pattern: '?????????????@ngpost.com' },
  { signature: 'test-server', field: 'message_id', pattern: 'file=*|part=*|start=*|size=*' },
];

/** Longer From fields fit no pattern: the work for one line stays bounded. */
const MAX_POSTER = 1000;

interface Compiled {
  readonly glob: Glob;
  /** Place in the table: of several that fit the first counts. */
  readonly place: number;
}

/** Recognises articles by poster, message-id and tool. Whether their name is random is the caller's to say. */
export class GarbageTable {
  private readonly reasons: readonly string[];
  private readonly posters: readonly Compiled[];
  private readonly ids: readonly Compiled[];
  /** Tools that the table names: an id is compared with the shapes of these only. */
  private readonly tools: readonly Tool[];
  private readonly placeOfTool = new Map<Tool, number>();

  constructor(signatures: readonly GarbageSignature[]) {
    this.reasons = signatures.map(({ signature }) => `garbage_${signature}`);
    const compiled = signatures.map((s, place) => ({ field: s.field, glob: compileGlob(s.pattern), place }));
    this.posters = compiled.filter((c) => c.field === 'poster');
    this.ids = compiled.filter((c) => c.field === 'message_id');
    for (const { field, glob, place } of compiled) {
      const named = field === 'tool' ? TOOLS.filter((t) => globMatches(glob, Buffer.from(t), 0, t.length)) : [];
      for (const tool of named) if (!this.placeOfTool.has(tool)) this.placeOfTool.set(tool, place);
    }
    this.tools = [...this.placeOfTool.keys()];
  }

  get isEmpty(): boolean {
    return this.reasons.length === 0;
  }

  /** What an article is dropped and counted as, null when nothing fits. `b[idStart..idEnd)` is its id without brackets. */
  reasonOf(b: Uint8Array, idStart: number, idEnd: number, fromStart: number, fromEnd: number): string | null {
    let place = firstFit(this.ids, b, idStart, idEnd);
    if (this.tools.length > 0) {
      const tool = readTool(b.subarray(idStart, idEnd), this.tools);
      if (tool !== null) place = Math.min(place, this.placeOfTool.get(tool) ?? NONE);
    }
    if (this.posters.length > 0) place = Math.min(place, this.posterPlace(b, fromStart, fromEnd));
    return this.reasons[place] ?? null;
  }

  /** The field is decoded only when the end of a pattern fits. */
  private posterPlace(b: Uint8Array, fieldStart: number, fieldEnd: number): number {
    let [start, end] = [fieldStart, fieldEnd];
    while (start < end && b[start] === 32) start++;
    while (end > start && b[end - 1] === 32) end--;
    if (end - start > MAX_POSTER) return NONE;
    let text: ArrayLike<number> | null = null;
    for (const { glob, place } of this.posters) {
      if (!tailFits(glob, b, start, end)) continue;
      text ??= unitsOf(readText(b.subarray(start, end)).toLowerCase());
      if (globMatches(glob, text, 0, text.length)) return place;
    }
    return NONE;
  }
}

const unitsOf = (text: string): Uint16Array => Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));

const NONE = Number.POSITIVE_INFINITY;

function firstFit(patterns: readonly Compiled[], text: ArrayLike<number>, start: number, end: number): number {
  for (const { glob, place } of patterns) if (globMatches(glob, text, start, end)) return place;
  return NONE;
}
