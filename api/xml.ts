/**
 * Writes XML 1.0. Whatever text comes in, a well-formed document comes out: `& < > " '` are escaped in text and
 * attributes alike, tabs and line ends in attributes survive, characters that XML 1.0 does not allow are dropped.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 forbids.
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]|\p{Surrogate}/gu;
const SPECIAL = /[&<>"'\t\n\r]/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Text that may stand between tags or inside a quoted attribute. */
export const escapeXml = (text: string): string =>
  text.replace(ILLEGAL, '').replace(SPECIAL, (c) => ENTITIES[c] as string);

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Attributes in the order given; an undefined one is left out. */
const written = (attributes: Attributes): string =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`)
    .join('');

export const openTag = (name: string, attributes: Attributes = {}): string => `<${name}${written(attributes)}>`;
export const emptyTag = (name: string, attributes: Attributes = {}): string => `<${name}${written(attributes)}/>`;
export const closeTag = (name: string): string => `</${name}>`;

/** An element that holds text. */
export const textTag = (name: string, text: string | number, attributes: Attributes = {}): string =>
  `${openTag(name, attributes)}${escapeXml(String(text))}${closeTag(name)}`;

/** An element that holds other elements, already written. */
export const parentTag = (name: string, attributes: Attributes, children: readonly string[]): string =>
  `${openTag(name, attributes)}${children.join('')}${closeTag(name)}`;
