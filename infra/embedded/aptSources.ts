/** The machine's apt sources, read and rewritten as text. Pure: no host name is known here, it is copied from the machine. */

/** A Debian archive as the machine names it, ready to be written with another suite. */
export interface AptSource {
  readonly kind: 'deb822' | 'one-line';
  /** For deb822 the fields as they were written (continuation lines included), for one-line the options and the address. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly suites: readonly string[];
  readonly components: readonly string[];
}

const DEBIAN_SUITES = new Set(['stable', 'oldstable', 'testing', 'unstable', 'sid']);
// What would turn the check of signatures off for this source is not copied.
const UNSAFE_OPTIONS = /^(trusted|allow-insecure|allow-weak|allow-downgrade-to-insecure)$/i;

/** Every enabled binary source in a deb822 `.sources` file. */
export function parseDeb822(text: string): readonly AptSource[] {
  const stanzas = text.split(/\n[ \t]*\n/).map(parseStanza);
  return stanzas.flatMap((fields) => {
    const value = (name: string) => fields.find(([n]) => n.toLowerCase() === name)?.[1].trim() ?? '';
    if (!value('types').split(/\s+/).includes('deb') || /^(no|false|0)$/i.test(value('enabled'))) return [];
    if (!value('uris') || !value('suites')) return [];
    const [suites, components] = [value('suites').split(/\s+/), value('components').split(/\s+/)];
    return [{ kind: 'deb822', fields, suites, components } as const];
  });
}

function parseStanza(stanza: string): [string, string][] {
  const fields: [string, string][] = [];
  for (const line of stanza.split('\n')) {
    if (line.startsWith('#')) continue;
    const last = fields.at(-1);
    const field = /^([!-9;-~]+):(.*)$/.exec(line);
    if (field) fields.push([field[1]!, field[2]!]);
    // A continuation line belongs to the field above it: a key may be written into the file itself.
    else if (/^[ \t]+\S/.test(line) && last) last[1] += `\n${line}`;
  }
  return fields;
}

/** Every binary source in a `sources.list` or `.list` file. */
export function parseOneLine(text: string): readonly AptSource[] {
  return text.split('\n').flatMap((line) => {
    const m = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)\s*(?:#.*)?$/.exec(line);
    if (!m) return [];
    const options = (m[1] ?? '').trim().split(/\s+/).filter(Boolean);
    const fields = options.map((option) => {
      const at = option.indexOf('=');
      return [option.slice(0, at), option.slice(at + 1)] as const;
    });
    const components = (m[4] ?? '').trim().split(/\s+/).filter(Boolean);
    return [{ kind: 'one-line', fields: [...fields, ['uri', m[2]!] as const], suites: [m[3]!], components } as const];
  });
}

/** The source as text in its own form, with `suite` and only the component main. */
export function withSuite(source: AptSource, suite: string): string {
  const kept = source.fields.filter(([name]) => !UNSAFE_OPTIONS.test(name));
  if (source.kind === 'deb822') {
    const lines = kept.map(([name, value]) => {
      const replaced = { types: ' deb', suites: ` ${suite}`, components: ' main' }[name.toLowerCase()];
      return `${name}:${replaced ?? value}`;
    });
    return `${lines.join('\n')}\n`;
  }
  const options = kept.filter(([name]) => name !== 'uri').map(([name, value]) => `${name}=${value}`);
  const uri = kept.find(([name]) => name === 'uri')?.[1];
  return `deb ${options.length > 0 ? `[${options.join(' ')}] ` : ''}${uri} ${suite} main\n`;
}

/** How likely a source is the Debian archive itself (not a third party's); null when it cannot be. */
export function rankSource(source: AptSource, codename: string): number | null {
  const isMain = source.components.includes('main');
  const own = source.suites.includes(codename);
  const known = own || source.suites.some((suite) => DEBIAN_SUITES.has(suite));
  if (!isMain || !known) return null;
  const keyring = source.fields.some(([n, v]) => /^signed-by$/i.test(n) && v.includes('debian-archive'));
  return (keyring ? 2 : 0) + (own ? 1 : 0);
}

/** The sources that may be the Debian archive, the likeliest first; a wrong one fails apt's own signature check. */
export function debianSources(sources: readonly AptSource[], codename: string): readonly AptSource[] {
  return sources
    .map((source) => ({ source, rank: rankSource(source, codename) }))
    .filter((entry) => entry.rank !== null)
    .sort((a, b) => b.rank! - a.rank!)
    .map((entry) => entry.source);
}

/** Name of the release in the text of /etc/os-release, such as `bookworm`; empty when it has none. */
export const codenameOf = (osRelease: string): string =>
  /^VERSION_CODENAME="?([a-z0-9-]+)"?\s*$/m.exec(osRelease)?.[1] ?? '';

/**
 * An apt configuration that keeps everything under `folder`: nothing of the system's lists, cache or pins is read or
 * changed, hooks of other packages do not run, signatures are checked whatever the system's configuration says.
 */
export const privateAptConfig = (folder: string): string => `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Update::Post-Invoke-Stats;
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "${folder}/parts";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "${folder}/lists";
Dir::Cache "${folder}/cache";
Dir::Cache::archives "${folder}/cache/archives";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::Retries "2";
`;
