import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { emptyTag, escapeXml, parentTag, textTag, XML_DECLARATION } from '../../../api/xml.ts';

/** What a strict parser reads back: attributes of the root and all its text. */
function parsed(xml: string): { attributes: Record<string, string>; text: string } {
  const parser = new SaxesParser();
  let attributes: Record<string, string> | null = null;
  let depth = 0;
  let text = '';
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    depth++;
    attributes ??= tag.attributes as Record<string, string>;
  });
  parser.on('closetag', () => {
    depth--;
  });
  parser.on('text', (t) => {
    if (depth > 0) text += t;
  });
  parser.write(xml).close();
  return { attributes: attributes ?? {}, text };
}

// Everything a subject may hold: any code unit, also lone surrogates and control characters.
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)) }),
);
const illegal = (c: string): boolean => {
  const n = c.codePointAt(0)!;
  return !(
    n === 9 ||
    n === 10 ||
    n === 13 ||
    (n >= 0x20 && n <= 0xd7ff) ||
    (n >= 0xe000 && n <= 0xfffd) ||
    n >= 0x10000
  );
};
/** Characters that XML 1.0 allows but discourages; the writer drops them too. */
const discouraged = (c: string): boolean => /[\u007f-\u0084\u0086-\u009f]/.test(c);
const survives = (text: string): string => [...text].filter((c) => !illegal(c) && !discouraged(c)).join('');

describe('the XML writer', () => {
  it('gives back any text, less what XML does not allow', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const back = parsed(`${XML_DECLARATION}${textTag('a', text)}`);
        expect(back.text).toBe(survives(text));
      }),
    );
  });

  it('gives back any attribute, tabs and line ends included', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(parsed(emptyTag('a', { b: text })).attributes).toEqual({ b: survives(text) });
      }),
    );
  });

  it('leaves out an attribute that is undefined and keeps the order of the others', () => {
    expect(emptyTag('newznab:attr', { name: 'size', other: undefined, value: 5 })).toBe(
      '<newznab:attr name="size" value="5"/>',
    );
  });

  it('nests what is written already without escaping it again', () => {
    expect(parentTag('a', {}, [textTag('b', '<&>')])).toBe('<a><b>&lt;&amp;&gt;</b></a>');
  });

  it('drops control characters that broke clients of others', () => {
    expect(escapeXml('a\u0007b\u0000c\ufffed')).toBe('abcd');
  });
});
