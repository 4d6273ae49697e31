import { CATEGORIES } from '../../projections/catalog/rows.ts';
import { emptyTag, openTag, parentTag, XML_DECLARATION } from '../xml.ts';
import { LIMIT_MAX } from './parameters.ts';

/** Which searches work, with the parameters that each takes. Only what works is listed as available. */
const SEARCHES = [
  { name: 'search', available: true, parameters: 'q' },
  { name: 'tv-search', available: false, parameters: 'q' },
  { name: 'movie-search', available: false, parameters: 'q' },
  { name: 'audio-search', available: false, parameters: 'q' },
  { name: 'book-search', available: false, parameters: 'q' },
] as const;

export interface CapsSettings {
  readonly title: string;
  readonly version: string;
  readonly url: string;
}

export function capsDocument(settings: CapsSettings): string {
  const searching = SEARCHES.map((s) =>
    emptyTag(s.name, {
      available: s.available ? 'yes' : 'no',
      supportedParams: s.parameters,
      // Raw: both sides are normalised by us, so clients may send titles as they are.
      searchEngine: 'raw',
    }),
  );
  const categories = CATEGORIES.map((c) =>
    parentTag(
      'category',
      { id: c.id, name: c.name },
      c.children.map((child) => emptyTag('subcat', { id: child.id, name: child.name })),
    ),
  );
  return [
    XML_DECLARATION,
    openTag('caps'),
    emptyTag('server', { version: settings.version, title: settings.title, url: settings.url }),
    emptyTag('limits', { max: LIMIT_MAX, default: LIMIT_MAX }),
    emptyTag('registration', { available: 'no', open: 'no' }),
    parentTag('searching', {}, searching),
    parentTag('categories', {}, categories),
    '</caps>\n',
  ].join('');
}
