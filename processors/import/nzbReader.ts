import { TextDecoder } from 'node:util';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { Group, isGroup } from '../../streams/ids.ts';

export interface NzbSegment {
  /** The number of the part, from 1. */
  readonly number: number;
  /** 0 where the NZB does not say. */
  readonly bytes: number;
  /** Without angle brackets. */
  readonly messageId: string;
}

export interface NzbFile {
  /** As the article that the NZB was made from had it: with a part counter or without. */
  readonly subject: string;
  readonly poster: string;
  /** Seconds since 1970; null where the NZB does not say. */
  readonly date: number | null;
  readonly groups: readonly Group[];
  readonly segments: readonly NzbSegment[];
}

export interface NzbContent {
  readonly files: readonly NzbFile[];
  readonly segments: number;
  /** Segments without a number or a message-id that can be used. */
  readonly unusable: number;
}

/** What an NZB may hold at most. */
export interface NzbLimits {
  readonly bytes: number;
  readonly files: number;
  readonly segments: number;
  readonly groupsOfFile: number;
  /** Elements in elements. */
  readonly depth: number;
  /** Bytes of one tag, text or comment. */
  readonly tokenBytes: number;
}

export const DEFAULT_NZB_LIMITS: NzbLimits = {
  bytes: 512 << 20,
  files: 100_000,
  segments: 1_000_000,
  groupsOfFile: 50,
  depth: 16,
  tokenBytes: 1 << 20,
};

const STEP_CHARS = 1 << 16;
const SUBJECT_MAX = 4000;
/** The latest time that a date of four digits can say. */
const SECONDS_MAX = 253_402_300_799;
/** What a message-id may consist of; servers take at most 250 bytes. */
const MESSAGE_ID = /^[^\s<>]{1,250}$/;
const WHOLE = /^\d{1,15}$/;

interface OpenFile {
  readonly subject: string;
  readonly poster: string;
  readonly date: number | null;
  readonly groups: Group[];
  readonly segments: NzbSegment[];
}

const attributeOf = (tag: SaxesTagPlain, name: string): string => tag.attributes[name] ?? '';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here.
const CONTROLS = /[\u0000-\u001f\u007f]/g;
/** One field of a header: whatever would end it is a blank. */
const fieldOf = (text: string): string => text.slice(0, SUBJECT_MAX).replace(CONTROLS, ' ').trim();

interface NzbFailure {
  readonly reason: string;
  readonly line: number;
}

/** What of an NZB is read so far. Nothing but the five entities of XML is expanded: a document type declares none here. */
class NzbBuilder {
  readonly #parser = new SaxesParser({ position: true, xmlns: false as const });
  readonly #limits: NzbLimits;
  readonly #path: string[] = [];
  readonly #files: NzbFile[] = [];
  #file: OpenFile | null = null;
  #segment: SaxesTagPlain | null = null;
  #text = '';
  #segments = 0;
  #unusable = 0;
  /** Events so far: a parser that gives none for long collects one endless token. */
  #events = 0;
  #quiet = 0;
  #failure: NzbFailure | null = null;

  constructor(limits: NzbLimits) {
    this.#limits = limits;
    const parser = this.#parser;
    parser.on('error', (error) => this.#refuse(error.message.replace(/^(?:[^:]*:)?\d+:\d+: /, '')));
    parser.on('opentag', (tag) => this.#open(tag));
    parser.on('closetag', (tag) => this.#close(tag.name));
    parser.on('text', (text) => this.#take(text));
    parser.on('cdata', (text) => this.#take(text));
    for (const other of ['comment', 'doctype', 'processinginstruction', 'xmldecl'] as const) {
      parser.on(other, () => void this.#events++);
    }
  }

  /** What is wrong beside the XML, here. */
  failure(reason: string): NzbFailure {
    return { reason, line: this.#parser.line };
  }

  /** Takes the next characters; what is wrong with them, or null. */
  write(text: string): NzbFailure | null {
    for (let at = 0; at < text.length && this.#failure === null; at += STEP_CHARS) {
      const before = this.#events;
      const step = text.slice(at, at + STEP_CHARS);
      this.#parser.write(step);
      this.#quiet = this.#events === before ? this.#quiet + step.length : 0;
      if (this.#quiet > this.#limits.tokenBytes)
        this.#refuse(`a tag or text of more than ${this.#limits.tokenBytes} bytes`);
    }
    return this.#failure;
  }

  /** The end of the file; what is wrong with it, or null. */
  close(): NzbFailure | null {
    // A closed parser counts from the start again.
    const { line } = this.#parser;
    this.#parser.close();
    if (this.#files.length === 0) this.#failure ??= { reason: 'it names no segment of any file', line };
    return this.#failure;
  }

  content(): NzbContent {
    return { files: this.#files, segments: this.#segments, unusable: this.#unusable };
  }

  /** The first thing that is wrong counts: what follows from it would only confuse. */
  #refuse(reason: string): void {
    this.#failure ??= this.failure(reason);
  }

  #take(text: string): void {
    this.#events++;
    if (this.#text.length < this.#limits.tokenBytes) this.#text += text;
  }

  #open(tag: SaxesTagPlain): void {
    this.#events++;
    this.#path.push(tag.name);
    this.#text = '';
    if (this.#path.length > this.#limits.depth) this.#refuse(`more than ${this.#limits.depth} elements in each other`);
    if (this.#path.length === 1 && tag.name !== 'nzb')
      this.#refuse(`its root is <${tag.name.slice(0, 40)}>, not <nzb>`);
    if (tag.name === 'file') this.#openFile(tag);
    else if (tag.name === 'segment') this.#segment = tag;
  }

  #openFile(tag: SaxesTagPlain): void {
    const seconds = attributeOf(tag, 'date').trim();
    const date = WHOLE.test(seconds) && Number(seconds) <= SECONDS_MAX ? Number(seconds) : null;
    const [subject, poster] = [attributeOf(tag, 'subject'), attributeOf(tag, 'poster')].map(fieldOf);
    this.#file = { subject: subject!, poster: poster!, date, groups: [], segments: [] };
    if (this.#files.length >= this.#limits.files) this.#refuse(`more than ${this.#limits.files} files`);
  }

  #close(name: string): void {
    this.#events++;
    this.#path.pop();
    const text = this.#text.trim();
    this.#text = '';
    if (name === 'group') this.#closeGroup(text);
    else if (name === 'segment') this.#closeSegment(text);
    else if (name === 'file') this.#closeFile();
  }

  #closeGroup(name: string): void {
    const groups = this.#file?.groups;
    if (!groups || !isGroup(name) || groups.includes(Group(name))) return;
    if (groups.length < this.#limits.groupsOfFile) groups.push(Group(name));
  }

  #closeSegment(text: string): void {
    const tag = this.#segment;
    this.#segment = null;
    if (!tag || !this.#file) return;
    if (this.#segments + this.#unusable >= this.#limits.segments) {
      this.#refuse(`more than ${this.#limits.segments} segments`);
      return;
    }
    const [number, bytes] = [attributeOf(tag, 'number').trim(), attributeOf(tag, 'bytes').trim()];
    const messageId = text.replace(/^<(.*)>$/, '$1');
    if (!/^[1-9]\d{0,6}$/.test(number) || !MESSAGE_ID.test(messageId)) {
      this.#unusable++;
      return;
    }
    this.#segments++;
    this.#file.segments.push({ number: Number(number), bytes: WHOLE.test(bytes) ? Number(bytes) : 0, messageId });
  }

  #closeFile(): void {
    const file = this.#file;
    this.#file = null;
    if (file && file.segments.length > 0) this.#files.push(file);
  }
}

/** The encoding that a file states or shows by its first bytes; UTF-8 where it does neither. */
function decoderOf(start: Buffer): TextDecoder | null {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le');
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be');
  const stated = /^[^>]{0,80}encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/.exec(start.toString('latin1'))?.[1];
  try {
    return new TextDecoder(stated ?? 'utf-8');
  } catch {
    return null;
  }
}

const DECLARATION_BYTES = 200;

/**
 * Reads an NZB, `file` being its name in errors. Segments that cannot be used are counted and left out, files without any
 * segment left out. Throws IMPORT_NZB_BROKEN with the line for what is no well-formed XML, no NZB, empty, or beyond the
 * limits.
 */
export async function readNzb(
  file: string,
  bytes: AsyncIterable<Buffer>,
  limits: NzbLimits = DEFAULT_NZB_LIMITS,
): Promise<NzbContent> {
  const builder = new NzbBuilder(limits);
  const check = (failure: NzbFailure | null): void => {
    if (failure !== null) throw new HeadwaterError('IMPORT_NZB_BROKEN', { file, ...failure });
  };
  const broken = (reason: string): void => check(builder.failure(reason));
  let decoder: TextDecoder | null = null;
  let start = Buffer.alloc(0);
  let total = 0;
  for await (const piece of bytes) {
    total += piece.length;
    if (total > limits.bytes) broken(`it is longer than ${limits.bytes} bytes`);
    let next = piece;
    if (decoder === null) {
      start = Buffer.concat([start, piece]);
      if (start.length < DECLARATION_BYTES) continue;
      decoder = decoderOf(start);
      if (decoder === null) broken('its encoding is not known');
      next = start;
    }
    check(builder.write(decoder!.decode(next, { stream: true })));
  }
  const rest = decoder === null ? start : Buffer.alloc(0);
  decoder ??= decoderOf(start);
  if (decoder === null) broken('its encoding is not known');
  check(builder.write(decoder!.decode(rest)));
  check(builder.close());
  return builder.content();
}
