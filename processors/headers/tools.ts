/**
 * Which posting tool made a message-id, by its shape. Some tools imitate others on purpose, so this is a hint and never
 * an identity.
 */
export const TOOLS = [
  'powerpost',
  'camelsystem',
  'yencbin',
  'jbinup',
  'jbindown',
  'nyuu',
  'ngpost',
  'postie',
  'nxg',
  'newsup',
  'newsmangler',
  'gopoststuff',
  'newztoolz',
  'testserver',
] as const;
export type Tool = (typeof TOOLS)[number];

/** Shapes of ids without angle brackets. Each is anchored and reads a character once. */
const SHAPES: Readonly<Record<Tool, RegExp>> = {
  powerpost: /^part\d+of\d+\.[A-Za-z0-9&$]{20}@powerpost2000AA\.local$/,
  camelsystem: /^part\d+of\d+\.[A-Za-z0-9&$]{20}@camelsystem-powerpost\.local$/,
  yencbin: /^Part\d+of\d+\.[0-9A-F]{32}@\d{9,11}\.local$/,
  jbinup: /^[A-Za-z0-9]{19,20}(?:_\d+o\d+)?@JBinUp\.local$/,
  jbindown: /^[A-Za-z0-9]{32,33}\.\d+-\d+@JBinDown\.local$/,
  nyuu: /^(?:[A-Z][a-z]){12}-\d{13}@nyuu$/,
  ngpost: /^\{?[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}\}?@ngPost$/,
  postie: /^[A-Za-z0-9]{32}@[A-Za-z0-9]{8}\.[A-Za-z0-9]{3}$/,
  nxg: /^[0-9a-f]{40}@[0-9a-f]{21}\.[0-9a-f]{3}$/,
  newsup: /^\d{14,18}\.[0-9A-Za-z]+@[0-9A-Za-z]+\.newsup$/,
  newsmangler: /^\d{9,11}\.\d{5}\.\d+@[A-Za-z0-9.-]+$/,
  gopoststuff: /^\d{16,20}\$gps@gopoststuff$/,
  newztoolz: /^NewzToolz_Rulz![A-Za-z0-9._-]*@[A-Za-z0-9.-]+$/,
  testserver: /^(?:[^?@]+\?\d+=\d+:\d+|file=[^|]*\|part=\d+\|start=\d+\|size=\d+)$/,
};

/** The longest id that a tool of the table makes is far below this. */
const MAX_ID = 250;

/** The first of `tools` that makes ids of this shape, null when none does. `id`: latin1 bytes without angle brackets. */
export function readTool(id: Uint8Array, tools: readonly Tool[] = TOOLS): Tool | null {
  if (id.length > MAX_ID) return null;
  const text = Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('latin1');
  return tools.find((tool) => SHAPES[tool].test(text)) ?? null;
}
