import type { FileRows } from '../../streams/codec/segmentColumns.ts';
import { compareTexts } from '../../streams/compareTexts.ts';
import type { EpochMs, Group } from '../../streams/ids.ts';
import type { ArticleTable } from './articles.ts';
import { type FileTable, NO_POSTER } from './files.ts';
import type { Fate, FileRun, Grouping } from './grouping.ts';
import type { XrefReader } from './xref.ts';

/** What a range is written out from. */
export interface RangeTables {
  readonly articles: ArticleTable;
  readonly files: FileTable;
  readonly grouping: Grouping;
  readonly xref: XrefReader;
  readonly mainGroup: Group;
}

/** An Xref of more groups is not believed; the codecs refuse lists of 64 KiB. */
const MAX_GROUPS = 256;
/** Texts of groups that the entries of one file may have; beyond it only the main one is kept, for no poster needs it. */
const MAX_GROUPS_BYTES = 4 * 1024 * 1024;

/** Bytes that the texts of an entry may come to in a chunk. */
export const textBytes = ({ subject, poster, groups }: FileRows): number =>
  3 * (subject.length + poster.length) + groupBytes(groups);

const groupBytes = (groups: readonly Group[]): number => groups.reduce((sum, group) => sum + group.length + 1, 0);

/** The main group, then the others in order of their bytes. */
export function mainFirst(mainGroup: Group, groups: Iterable<Group>): readonly Group[] {
  const others = [...new Set(groups)].filter((group) => group !== mainGroup);
  return [mainGroup, ...others.sort(compareTexts).slice(0, MAX_GROUPS - 1)];
}

/** What the articles of one spelling have in common, duplicates among them. */
class Spelling {
  readonly subject: number;
  readonly groupSets = new Set<number>();
  at = Number.POSITIVE_INFINITY;
  poster = NO_POSTER;
  width = 0;

  constructor(subject: number) {
    this.subject = subject;
  }

  add(tables: RangeTables, row: number): void {
    const { articles } = tables;
    this.groupSets.add(articles.groups[row]!);
    if (articles.width[row]! > this.width) this.width = articles.width[row]!;
    const at = articles.at[row]!;
    if (at > this.at) return;
    const poster = articles.poster[row]!;
    if (at < this.at || isSmaller(tables, poster, this.poster)) this.poster = poster;
    this.at = at;
  }

  /** Takes in what another spelling with the same text knows. */
  join(tables: RangeTables, other: Spelling): void {
    for (const set of other.groupSets) this.groupSets.add(set);
    this.width = Math.max(this.width, other.width);
    if (other.at > this.at) return;
    if (other.at < this.at || isSmaller(tables, other.poster, this.poster)) this.poster = other.poster;
    this.at = other.at;
  }
}

const isSmaller = ({ files }: RangeTables, a: number, b: number): boolean =>
  a !== b && compareTexts(files.posterText(a), files.posterText(b)) < 0;

/**
 * The articles of a run as files of a chunk, one a (subject, stated total): `fate` says which of its rows are its segments.
 * A spelling all of whose articles were kept out as duplicates stays without segments, since its time may be the file's.
 */
export function entriesOf(tables: RangeTables, run: FileRun, fate: Fate): readonly FileRows[] {
  const { articles, grouping } = tables;
  const spellings = new Map<number, Spelling>();
  let last = new Spelling(-1);
  for (const row of grouping.allRows(run)) {
    const subject = articles.subject[row]!;
    if (last.subject !== subject) {
      last = spellings.get(subject) ?? new Spelling(subject);
      spellings.set(subject, last);
    }
    last.add(tables, row);
  }
  const rows = grouping.rowsWith(run, fate);
  if (spellings.size === 1) return [{ ...headOf(tables, run, last), rows }];
  return joined(tables, run, [...spellings.values()], rows);
}

/** Bytes of different charsets may be one text. */
function joined(tables: RangeTables, run: FileRun, spellings: readonly Spelling[], rows: Uint32Array): FileRows[] {
  const { articles, files } = tables;
  const byText = new Map<string, { readonly spelling: Spelling; readonly rows: number[] }>();
  const rowsOf = new Map<number, number[]>();
  for (const spelling of spellings) {
    const { text, partAt } = files.subjectText(spelling.subject);
    const id = `${partAt}/${files.total(spelling.subject)}/${text}`;
    const known = byText.get(id);
    if (known) known.spelling.join(tables, spelling);
    const entry = known ?? { spelling, rows: [] };
    byText.set(id, entry);
    rowsOf.set(spelling.subject, entry.rows);
  }
  for (const row of rows) rowsOf.get(articles.subject[row]!)!.push(row);
  const entries = [...byText.values()]
    .map((entry) => ({ ...headOf(tables, run, entry.spelling), rows: Uint32Array.from(entry.rows) }))
    .sort((a, b) => b.parts - a.parts || compareTexts(a.subject, b.subject) || a.partAt - b.partAt);
  const bytes = entries.reduce((sum, { groups }) => sum + groupBytes(groups), 0);
  return bytes <= MAX_GROUPS_BYTES ? entries : entries.map((entry) => ({ ...entry, groups: [tables.mainGroup] }));
}

function headOf(tables: RangeTables, run: FileRun, spelling: Spelling): Omit<FileRows, 'rows'> {
  const { files, xref, mainGroup } = tables;
  const { text, partAt } = files.subjectText(spelling.subject);
  return {
    subject: text,
    partAt,
    partWidth: spelling.width,
    poster: files.posterText(spelling.poster),
    postedAt: spelling.at as EpochMs,
    parts: files.total(spelling.subject),
    fileIndex: files.indexOf(run.file),
    fileHash: files.fileHash(run.file),
    groups: mainFirst(
      mainGroup,
      [...spelling.groupSets].flatMap((set) => xref.groupsOf(set)),
    ),
  };
}
