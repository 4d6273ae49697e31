import { SaxesParser } from 'saxes';

export interface XmlElement {
  /** As written, with its prefix. */
  readonly name: string;
  /** The namespace that the name is in; '' for none. */
  readonly uri: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text directly inside, without that of its children. */
  readonly text: string;
}

interface Open {
  name: string;
  uri: string;
  attributes: Record<string, string>;
  children: Open[];
  text: string;
}

/** Reads a document strictly: anything that is not well-formed, an undeclared prefix too, throws. */
export function parseXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const open: Open[] = [];
  let root: Open | undefined;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    const attributes = Object.fromEntries(Object.entries(tag.attributes).map(([name, a]) => [name, a.value]));
    const element: Open = { name: tag.name, uri: tag.uri, attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('text', (piece) => {
    const element = open.at(-1);
    if (element) element.text += piece;
  });
  parser.on('closetag', () => {
    open.pop();
  });
  parser.write(text).close();
  if (!root) throw new Error('the document has no element');
  return root;
}

export const childrenOf = (element: XmlElement, name: string): readonly XmlElement[] =>
  element.children.filter((child) => child.name === name);

/** The only child of that name; throws when there is none or another. */
export function childOf(element: XmlElement, name: string): XmlElement {
  const [only, ...more] = childrenOf(element, name);
  if (only && more.length === 0) return only;
  throw new Error(`<${element.name}> has ${only ? more.length + 1 : 0} <${name}>`);
}

/** The value of an attribute; throws when the element does not have it. */
export function attributeOf(element: XmlElement, name: string): string {
  const value = element.attributes[name];
  if (value === undefined) throw new Error(`<${element.name}> has no ${name}`);
  return value;
}
