import { posterName, randomPoster, talk } from './madeUpNames.ts';
import { articleFields, countParts, type Post, type PostKind, planPost } from './madeUpPosts.ts';
import { DEFAULT_MIX, TOOLS, type Tool } from './messageIds.ts';
import { ALPHABET, Random } from './random.ts';

/** What became of a post: told when its last article was written, or at the end of the listing. */
export interface PostTruth {
  readonly kind: PostKind;
  readonly tool: Tool;
  readonly name: string;
  readonly poster: string | null;
  /** The group first, then those it was cross-posted to. */
  readonly groups: readonly string[];
  /** Numbers of its first and last article in the group. */
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly files: readonly {
    readonly name: string;
    readonly size: number;
    readonly parts: number;
    /** How many of its parts have a line. */
    readonly written: number;
  }[];
}

export interface OverviewOptions {
  readonly lines: number;
  readonly seed: number;
  readonly group: string;
  /** Article number of the first line. */
  readonly first: number;
  /** Groups that Xref may name beside `group`. */
  readonly crossGroups: readonly string[];
  /** First number in each of them; undefined: drawn from 10^8 to 9 x 10^9. */
  readonly crossFirst: number | undefined;
  /** Posts that run at the same time, most; the fewest is a quarter of it. */
  readonly concurrency: number;
  /**
   * Shares of lines: readable, obfuscated, random; what is left to 1 is talk and spam. Nothing groups the random ones, the
   * talk and the spam: together 15 % by default; `--readable=0.6 --random=0.15` make 20 % of them.
   */
  readonly readable: number;
  readonly obfuscated: number;
  readonly random: number;
  /** Share of posts that go to 2 to 5 groups. */
  readonly crossPosted: number;
  /** Parts of a post that are in flight at once, out of which they arrive in any order. */
  readonly jitter: number;
  /** Share of parts that never arrive. */
  readonly missing: number;
  /** Share of segments by posting tool; counted by the parts that posts have. */
  readonly mix: Readonly<Record<Tool, number>>;
  /** Multiplies the size of volumes: 0.05 gives many small posts, 1 posts of about 2,000 articles. */
  readonly volumeScale: number;
  /** Time of the first article, seconds since 1970, and articles a second. */
  readonly startsAt: number;
  readonly rate: number;
  /** Host name in Xref. */
  readonly host: string;
  readonly onPost: ((truth: PostTruth) => void) | undefined;
}

const CROSS_GROUPS = 'boneless misc multimedia town frogs big bloaf nl b4e ath e-book mp3 moovee teevee hdtv'
  .split(' ')
  .map((name) => `alt.binaries.${name}`);

export const OVERVIEW_DEFAULTS: OverviewOptions = {
  lines: 1_000_000,
  seed: 1,
  group: 'alt.binaries.example',
  first: 9_100_000_001,
  crossGroups: CROSS_GROUPS,
  crossFirst: undefined,
  concurrency: 20,
  readable: 0.65,
  obfuscated: 0.2,
  random: 0.1,
  crossPosted: 0.3,
  jitter: 8,
  missing: 0.002,
  mix: DEFAULT_MIX,
  volumeScale: 1,
  startsAt: 1_767_225_600,
  rate: 1500,
  host: 'news.example.net',
  onPost: undefined,
};

interface Waiting {
  readonly file: number;
  readonly part: number;
}

/** A post that is being written. */
interface Running {
  readonly post: Post;
  readonly crossGroups: readonly string[];
  readonly written: number[];
  readonly inFlight: Waiting[];
  /** The part that goes in flight next. */
  file: number;
  part: number;
  firstNumber: number;
  lastNumber: number;
}

/** `Thu, 01 Jan 2026 00:00:00 ` without its zone. */
const dateText = (seconds: number): string => new Date(seconds * 1000).toUTCString().slice(0, -3);

class Listing {
  readonly #options: OverviewOptions;
  readonly #random: Random;
  readonly #posters: readonly string[];
  readonly #running: Record<PostKind, Running[]> = { readable: [], obfuscated: [], random: [] };
  readonly #most: Readonly<Record<PostKind, number>>;
  readonly #crossNumbers: Map<string, number>;
  readonly #planned = new Map<Tool, number>(TOOLS.map((tool) => [tool, 0]));
  #plannedTotal = 0;
  #number: number;
  #clock: number;
  #dateSecond = -1;
  #date = '';

  constructor(options: OverviewOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#number = options.first;
    this.#clock = options.startsAt;
    this.#posters = Array.from({ length: 400 }, () => posterName(this.#random));
    const most = (share: number) => Math.max(1, Math.round(options.concurrency * share));
    this.#most = { readable: most(0.65), obfuscated: most(0.22), random: most(0.13) };
    const start = () => options.crossFirst ?? this.#random.int(1e8, 9e9);
    const others = options.crossGroups.filter((group) => group !== options.group);
    this.#crossNumbers = new Map(others.map((group) => [group, start()]));
  }

  /** The next line: nine fields, no line end. */
  line(): string {
    const { readable, obfuscated, random, rate } = this.#options;
    this.#clock += (this.#random.next() * 2) / rate;
    const draw = this.#random.next();
    if (draw < readable) return this.#articleLine('readable');
    if (draw < readable + obfuscated) return this.#articleLine('obfuscated');
    if (draw < readable + obfuscated + random) return this.#articleLine('random');
    return this.#talkLine();
  }

  /** Tells the truth about the posts that the end of the listing cut off. */
  end(): void {
    for (const running of Object.values(this.#running).flat()) this.#tell(running);
  }

  #articleLine(kind: PostKind): string {
    const list = this.#running[kind];
    this.#keepRunning(kind);
    // The older posts go faster than the younger ones, as posters' lines differ.
    const at = Math.floor(this.#random.next() * this.#random.next() * list.length);
    const running = list[at]!;
    const { inFlight } = running;
    const next = this.#random.chance(0.7) ? 0 : Math.floor(this.#random.next() * inFlight.length);
    const { file, part } = inFlight.splice(next, 1)[0]!;
    this.#fill(running);
    const number = this.#number++;
    if (running.firstNumber === 0) running.firstNumber = number;
    running.lastNumber = number;
    running.written[file]!++;
    if (inFlight.length === 0) {
      list.splice(at, 1);
      this.#tell(running);
    }
    const { post } = running;
    const { subject, messageId, bytes, lines } = articleFields(post, file, part, this.#clock * 1000, this.#random);
    const from = post.poster ?? randomPoster(this.#random);
    const date = this.#now() + post.zone;
    const xref = this.#xref(number, running.crossGroups);
    return `${number}\t${subject}\t${from}\t${date}\t<${messageId}>\t\t${bytes}\t${lines}\t${xref}`;
  }

  #talkLine(): string {
    const random = this.#random;
    const { subject, references } = talk(random);
    const id = `${random.text(random.int(8, 16), ALPHABET.base62)}$${random.text(4, ALPHABET.hex)}`;
    const from = random.pick(this.#posters);
    const sizes = `${random.int(900, 6000)}\t${random.int(8, 120)}`;
    const number = this.#number++;
    const xref = this.#xref(number, this.#drawCrossGroups());
    return `${number}\t${subject}\t${from}\t${this.#now()}GMT\t<${id}@news.example>\t${references}\t${sizes}\t${xref}`;
  }

  #now(): string {
    const second = Math.floor(this.#clock);
    if (second !== this.#dateSecond) {
      this.#dateSecond = second;
      this.#date = dateText(second);
    }
    return this.#date;
  }

  /** Each other group counts on by itself, with gaps for the articles that are not ours. */
  #xref(number: number, crossGroups: readonly string[]): string {
    let xref = `Xref: ${this.#options.host} ${this.#options.group}:${number}`;
    for (const group of crossGroups) {
      const there = this.#crossNumbers.get(group)!;
      this.#crossNumbers.set(group, there + 1 + (this.#random.chance(0.2) ? this.#random.int(1, 3) : 0));
      xref += ` ${group}:${there}`;
    }
    return xref;
  }

  #drawCrossGroups(): string[] {
    if (this.#crossNumbers.size === 0 || !this.#random.chance(this.#options.crossPosted)) return [];
    const groups = [...this.#crossNumbers.keys()];
    const drawn = new Set(Array.from({ length: this.#random.int(1, 4) }, () => this.#random.pick(groups)));
    return [...drawn];
  }

  /** Starts posts of a kind until enough run, and now and then one more. */
  #keepRunning(kind: PostKind): void {
    const list = this.#running[kind];
    const most = this.#most[kind];
    const fewest = Math.max(1, Math.ceil(most / 4));
    while (list.length < fewest || (list.length < most && this.#random.chance(0.01))) {
      const running = this.#startPost(kind);
      if (running.inFlight.length > 0) list.push(running);
    }
  }

  #startPost(kind: PostKind): Running {
    const post = planPost(kind, this.#random, this.#options.volumeScale, (parts) => this.#chooseTool(parts));
    this.#planned.set(post.tool, this.#planned.get(post.tool)! + countParts(post.files));
    const written = post.files.map(() => 0);
    const place = { file: 0, part: 1, firstNumber: 0, lastNumber: 0 };
    const running: Running = { post, crossGroups: this.#drawCrossGroups(), written, inFlight: [], ...place };
    this.#fill(running);
    return running;
  }

  /** The tool whose planned segments lie farthest behind its share, so that shares hold with few and uneven posts. */
  #chooseTool(parts: number): Tool {
    this.#plannedTotal += parts;
    const lag = (tool: Tool) => this.#options.mix[tool] * this.#plannedTotal - this.#planned.get(tool)!;
    return TOOLS.reduce((best, tool) => (lag(tool) > lag(best) ? tool : best));
  }

  #fill(running: Running): void {
    const { files } = running.post;
    while (running.inFlight.length < this.#options.jitter && running.file < files.length) {
      const { file, part } = running;
      if (!this.#random.chance(this.#options.missing)) running.inFlight.push({ file, part });
      const isLast = part === files[file]!.parts;
      running.part = isLast ? 1 : part + 1;
      if (isLast) running.file++;
    }
  }

  #tell({ post, crossGroups, written, firstNumber, lastNumber }: Running): void {
    if (this.#options.onPost === undefined || firstNumber === 0) return;
    const { kind, tool, name, poster } = post;
    const groups = [this.#options.group, ...crossGroups];
    const files = post.files.map((file, i) => ({
      name: file.name,
      size: file.size,
      parts: file.parts,
      written: written[i] ?? 0,
    }));
    this.#options.onPost({ kind, tool, name, poster, groups, firstNumber, lastNumber, files });
  }
}

/**
 * Realistic overview lines of one group, in article-number order: number, subject, from, date, message-id, references,
 * bytes, lines, Xref, separated by tabs, without line ends, latin1. The same options give the same lines on every
 * machine. Posts are interleaved as in a real group; one that had not ended is cut off.
 */
export function* generateOverview(options: Partial<OverviewOptions> = {}): Generator<string, void, undefined> {
  const all: OverviewOptions = { ...OVERVIEW_DEFAULTS, ...options };
  const listing = new Listing(all);
  for (let i = 0; i < all.lines; i++) yield listing.line();
  listing.end();
}
