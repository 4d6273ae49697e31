/** Text tables for people: columns as wide as their longest value, numbers to the right. */
export type Cell = string | number | null;

const shown = (cell: Cell): string => (cell === null ? '-' : typeof cell === 'number' ? grouped(cell) : cell);

/** 1234567 as `1,234,567`. */
export const grouped = (n: number): string => n.toLocaleString('en-US');

/** `1 line`, `1,234 lines`: the plural by adding an s. */
export const countText = (n: number, what: string): string => `${grouped(n)} ${what}${n === 1 ? '' : 's'}`;

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `3 d 4 h`, `5 min`, `12 s`: the two largest units that matter. */
export function durationText(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

/** Lines of the table, head first. An empty table is the head alone. */
export function tableLines(head: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] {
  const texts = rows.map((row) => row.map(shown));
  const widths = head.map((name, i) => Math.max(name.length, ...texts.map((row) => row[i]?.length ?? 0)));
  const numeric = head.map((_, i) => rows.some((row) => typeof row[i] === 'number'));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd();
  return [line(head), ...texts.map(line)];
}
