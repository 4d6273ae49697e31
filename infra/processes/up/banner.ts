export interface BannerFacts {
  readonly version: string;
  readonly address: string;
  readonly key: string;
  readonly keyFile: string;
  readonly logFolder: string;
  readonly providers: number;
  readonly notes: readonly string[];
  readonly seconds: number;
}

const withoutProvider = [
  'No news server is configured: what you can search is the bundled sample. To add one, write headwater.yaml:',
  '',
  '  providers:',
  '    - name: mine',
  '      host: news.example.net',
  '      user: me',
  '      pass: ${NEWS_PASS}',
  '',
  'start again, then: npx headwater groups add alt.binaries.example --days 30',
];

/** The last lines of a start: where it is, how to get in, what to try, what to do next. */
export const bannerLines = (facts: BannerFacts): readonly string[] => [
  '',
  `Headwater ${facts.version} is ready (${facts.seconds} s)`,
  ...facts.notes.map((note) => `  ${note}`),
  '',
  `  address   ${facts.address}`,
  `  API key   ${facts.key}   (kept in ${facts.keyFile})`,
  `  logs      ${facts.logFolder}`,
  '',
  'Try a search:',
  '',
  `  curl '${facts.address}/api?t=search&apikey=${facts.key}'`,
  '',
  ...(facts.providers === 0
    ? withoutProvider
    : [
        `${facts.providers} news server(s) configured. Groups: npx headwater groups add|list; state: npx headwater status`,
      ]),
  '',
  'Ctrl-C stops everything.',
];
