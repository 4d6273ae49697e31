import { describe, expect, test } from 'vitest';
import {
  codenameOf,
  debianSources,
  parseDeb822,
  parseOneLine,
  privateAptConfig,
  withSuite,
} from '../../infra/embedded/aptSources.ts';

const DEB822 = `Types: deb deb-src
# a comment
URIs: http://archive.test/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://archive.test/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://tools.test/deb
Suites: nodistro
Components: main
`;

describe('deb822 sources', () => {
  test('the archive is found among security and third-party sources', () => {
    const found = debianSources(parseDeb822(DEB822), 'bookworm');
    expect(found).toHaveLength(1);
    expect(withSuite(found[0]!, 'sid')).toBe(`Types: deb
URIs: http://archive.test/debian
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`);
  });

  test('a key that is written into the file keeps its lines', () => {
    const text = 'Types: deb\nURIs: http://a.test/\nSuites: stable\nComponents: main\nSigned-By:\n KEY1\n .\n KEY2\n';
    expect(withSuite(parseDeb822(text)[0]!, 'trixie')).toContain('Signed-By:\n KEY1\n .\n KEY2\n');
  });

  test('disabled and source-only stanzas are left out', () => {
    const rest = 'URIs: http://a.test/\nSuites: stable\nComponents: main\n';
    expect(parseDeb822(`Types: deb\nEnabled: no\n${rest}`)).toEqual([]);
    expect(parseDeb822(`Types: deb-src\n${rest}`)).toEqual([]);
    expect(parseDeb822(`Types: deb\nEnabled: yes\n${rest}`)).toHaveLength(1);
  });

  test('what would turn signature checks off is not copied', () => {
    const text =
      'Types: deb\nURIs: http://a.test/\nSuites: stable\nComponents: main\nTrusted: yes\nAllow-Insecure: yes\n';
    expect(withSuite(parseDeb822(text)[0]!, 'sid')).not.toMatch(/trusted|insecure/i);
  });
});

describe('one-line sources', () => {
  test('options and address are kept, suite and components replaced', () => {
    const text =
      'deb [ arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg ] http://a.test/debian bookworm main non-free # x';
    const found = debianSources(parseOneLine(text), 'bookworm');
    expect(withSuite(found[0]!, 'sid')).toBe(
      'deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://a.test/debian sid main\n',
    );
  });

  test('a line without options stays without, comments and deb-src lines are no sources', () => {
    const text =
      '# deb http://a.test/ sid main\ndeb-src http://a.test/ sid main\ndeb http://b.test/debian stable main\n';
    const found = parseOneLine(text);
    expect(found.map((source) => withSuite(source, 'trixie'))).toEqual(['deb http://b.test/debian trixie main\n']);
  });

  test('an option that trusts a source blindly is dropped', () => {
    expect(withSuite(parseOneLine('deb [trusted=yes] http://a.test/ sid main')[0]!, 'sid')).toBe(
      'deb http://a.test/ sid main\n',
    );
  });

  test('a source with the Debian keyring comes before others that only look alike', () => {
    const text = `deb http://third.test/repo stable main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://a.test/debian bookworm main
deb http://pg.test/apt bookworm-pgdg main`;
    const found = debianSources(parseOneLine(text), 'bookworm').map((source) => withSuite(source, 'sid'));
    expect(found).toEqual([
      'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://a.test/debian sid main\n',
      'deb http://third.test/repo sid main\n',
    ]);
  });
});

test('the code name comes from os-release, quoted or not', () => {
  expect(codenameOf('ID=debian\nVERSION_CODENAME=bookworm\n')).toBe('bookworm');
  expect(codenameOf('VERSION_CODENAME="noble"\n')).toBe('noble');
  expect(codenameOf('ID=arch\n')).toBe('');
});

test('the private apt configuration keeps to its folder and checks signatures', () => {
  const text = privateAptConfig('/x/y');
  expect(text).toContain('Dir::State::lists "/x/y/lists";');
  expect(text).toContain('Acquire::AllowInsecureRepositories "false";');
  expect(text).toContain('APT::Get::AllowUnauthenticated "false";');
  expect(text).toContain('#clear APT::Update::Post-Invoke;');
});
