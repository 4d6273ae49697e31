import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHeadwaterError } from '../../../infra/base/errors/index.ts';
import { DEFAULT_NZB_LIMITS, readNzb } from '../../../processors/import/nzbReader.ts';

async function* pieces(bytes: Buffer, size = bytes.length): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) yield bytes.subarray(at, at + Math.max(1, size));
}
const read = (text: string | Buffer, limits = {}, size?: number) =>
  readNzb('x.nzb', pieces(Buffer.from(text), size), { ...DEFAULT_NZB_LIMITS, ...limits });

const DOCTYPE = '<!DOCTYPE nzb PUBLIC "-//newzBin//DTD NZB 1.1//EN" "http://www.newzbin.com/DTD/nzb/nzb-1.1.dtd">';
const file = (segments: string, groups = '<group>alt.binaries.a</group>', more = 'date="1700000000"') =>
  `<file poster="me &lt;me@x&gt;" ${more} subject="&quot;a.rar&quot; yEnc (1/2)">
 <groups>${groups}</groups><segments>${segments}</segments></file>`;
const segment = (number: number, id: string, bytes = '500') =>
  `<segment bytes="${bytes}" number="${number}">${id}</segment>`;
const nzb = (files: string, head = '<?xml version="1.0" encoding="UTF-8"?>') =>
  `${head}\n${DOCTYPE}\n<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb">\n${files}\n</nzb>\n`;
const plain = nzb(file(segment(1, 'one&amp;@x') + segment(2, '&lt;two@x&gt;')));

describe('an NZB', () => {
  it.each([1, 7, 100_000])('gives its files with their groups and segments (pieces of %j bytes)', async (size) => {
    expect(await read(plain, {}, size)).toEqual({
      segments: 2,
      unusable: 0,
      files: [
        {
          subject: '"a.rar" yEnc (1/2)',
          poster: 'me <me@x>',
          date: 1_700_000_000,
          groups: ['alt.binaries.a'],
          segments: [
            { number: 1, bytes: 500, messageId: 'one&@x' },
            { number: 2, bytes: 500, messageId: 'two@x' },
          ],
        },
      ],
    });
  });

  it('may come without declaration, document type and namespace', async () => {
    expect((await read(`<nzb>${file(segment(1, 'a@x'))}</nzb>`)).segments).toBe(1);
  });

  it.each([
    ['UTF-8', Buffer.from('Käse')],
    ['iso-8859-1', Buffer.from('Käse', 'latin1')],
    ['windows-1252', Buffer.from('Käse', 'latin1')],
  ])('is read in the encoding that it states: %s', async (encoding, name) => {
    const text = nzb(file(segment(1, 'a@x')).replace('a.rar', 'NAME'), `<?xml version="1.0" encoding="${encoding}"?>`);
    const [before = '', after = ''] = text.split('NAME');
    const bytes = Buffer.concat([Buffer.from(before), name, Buffer.from(after)]);
    expect((await read(bytes, {}, 50)).files[0]?.subject).toBe('"Käse" yEnc (1/2)');
  });

  it('leaves out and counts segments without a usable number or message-id, and files without any', async () => {
    const bad = [segment(0, 'a@x'), segment(1, 'a b@x'), segment(1, ''), segment(1, 'x'.repeat(300))].join('');
    const content = await read(nzb(file(bad) + file(bad + segment(3, 'ok@x', 'many'))));
    expect(content).toMatchObject({ segments: 1, unusable: 8 });
    expect(content.files.map((f) => f.segments)).toEqual([[{ number: 3, bytes: 0, messageId: 'ok@x' }]]);
  });

  it('keeps every group that can be one, once, and no date that is none', async () => {
    const groups = ['a.b', 'a b', '', 'a.b', 'c.d'].map((name) => `<group> ${name} </group>`).join('');
    const content = await read(nzb(file(segment(1, 'a@x'), groups, 'date="soon"')));
    expect(content.files[0]).toMatchObject({ groups: ['a.b', 'c.d'], date: null });
  });

  it('cannot end a line of an overview by what its fields hold', async () => {
    const text = nzb(file(segment(1, 'a@x')).replace('a.rar', 'a&#9;b&#10;c'));
    expect((await read(text)).files[0]?.subject).toBe('"a b c" yEnc (1/2)');
  });
});

describe('what is no NZB is refused with IMPORT_NZB_BROKEN, its name and the line', () => {
  const laughs = `<!DOCTYPE nzb [<!ENTITY a "${'ha'.repeat(50)}"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>`;
  it.each([
    ['a page', '<html>\n<body>no</body></html>', 1, /root is <html>/],
    ['nothing', '', 1, /.+/],
    ['no segments', nzb(''), 6, /names no segment/],
    ['a cut file', plain.slice(0, plain.indexOf('</segments>')), 5, /.+/],
    ['crossed elements', nzb('<file></groups>'), 4, /.+/],
    ['an entity of its own', `${laughs}\n<nzb>\n${file(segment(1, '&b;@x'))}</nzb>`, 4, /.*entit.*/],
    ['a control character', nzb(file(segment(1, 'a\u0001@x'))), 5, /.+/],
    [
      'an encoding that nobody knows',
      nzb(file(segment(1, 'a@x')), '<?xml version="1.0" encoding="klingon"?>'),
      1,
      /encoding/,
    ],
  ])('%s', async (_, text, line, reason) => {
    const failure = await read(text).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'IMPORT_NZB_BROKEN', fields: { file: 'x.nzb', line } });
    expect((failure as { fields: { reason: string } }).fields.reason).toMatch(reason);
  });

  it.each([
    ['bytes', { bytes: 300 }, /longer than 300 bytes/],
    ['segments', { segments: 1 }, /more than 1 segments/],
    ['files', { files: 0 }, /more than 0 files/],
    ['depth', { depth: 3 }, /more than 3 elements/],
  ])('more of %s than the limit', async (_, limits, reason) => {
    await expect(read(plain, limits)).rejects.toThrow(reason);
  });

  it('a tag that never ends, long before the file does', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.from('<nzb><file subject="');
      for (;;) {
        given += 65_536;
        yield Buffer.alloc(65_536, 'a');
      }
    }
    await expect(readNzb('x.nzb', endless())).rejects.toThrow(/IMPORT_NZB_BROKEN.*a tag or text of more than/);
    expect(given).toBeLessThan(3 << 20);
  });

  it('anything else: no bytes make it throw another error', async () => {
    const parts = fc.constantFrom(
      '<nzb>',
      '<file subject="a">',
      '</file>',
      '<segments>',
      '<',
      '>',
      '&',
      ';',
      '"',
      '<![CDATA[',
      ']]>',
      '<!--',
      '<?',
      segment(1, 'a@x'),
      '</nzb>',
      '\u0000',
      '<!DOCTYPE x [',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.array(parts, { maxLength: 20 })),
        async (input) => {
          const bytes = Array.isArray(input) ? Buffer.from(input.join('')) : Buffer.from(input as Uint8Array);
          const result = await read(bytes).catch((error: unknown) => error);
          if (result instanceof Error)
            expect(isHeadwaterError(result, 'IMPORT_NZB_BROKEN'), String(result.stack)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
