import type { TSchema } from 'typebox';
import { configSchema } from './schema.ts';

interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly const?: unknown;
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly required?: readonly string[];
}

const typeOf = (node: Node): string => {
  if (node.anyOf) return node.anyOf.map((n) => (n.const === undefined ? typeOf(n) : `\`${n.const}\``)).join(', ');
  if (node.minimum === undefined) return node.type ?? '';
  return `${node.type} ${node.minimum}${node.maximum === undefined ? ' and up' : ` to ${node.maximum}`}`;
};

const fallback = (node: Node, required: boolean): string => {
  if (node.default !== undefined) return `\`${JSON.stringify(node.default)}\``;
  return required ? 'must be given' : '-';
};

function rowsOf(node: Node, prefix: string): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const path = prefix + key;
    if (child.properties) return rowsOf(child, `${path}.`);
    const row = `| \`${path}\` | ${typeOf(child)} | ${fallback(child, node.required?.includes(key) ?? false)} | ${child.description} |`;
    return child.items?.properties ? [row, ...rowsOf(child.items, `${path}[].`)] : [row];
  });
}

/** The table of every key, as infra/config/README.md shows it; a test holds the two together. */
export const describeConfig = (schema: TSchema = configSchema): string =>
  ['| key | takes | default | what it is |', '| --- | --- | --- | --- |', ...rowsOf(schema as Node, '')].join('\n');
