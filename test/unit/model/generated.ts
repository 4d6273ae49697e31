import { generateOverview } from '../../bench/overviewGenerator.ts';
import { type Article, GROUPS, type Numbered, type World } from './world.ts';

/** The overview generator's stream as a world: one group on one backbone, posters interleaved, ids of all tools. */
export function generatedWorld(seed: number, lines: number): World {
  const [group, other] = GROUPS;
  const xref = new Map<string, string>();
  const articles = [...generateOverview({ lines, seed, group, crossGroups: [other], volumeScale: 0.03 })].map(
    (line) => {
      const [number, subject = '', poster = '', date = '', id = '', , bytes, , xrefField = ''] = line.split('\t');
      const messageId = id.slice(1, -1);
      xref.set(messageId, xrefField);
      const article: Article = {
        messageId,
        subject,
        poster,
        at: Date.parse(date),
        bytes: Number(bytes),
        groups: [group],
        file: '',
      };
      return { number: Number(number), article };
    },
  );
  const place: Numbered = {
    backbone: 'one',
    group,
    articles,
    cancelled: [],
    xref,
    low: articles[0]!.number,
    high: articles.at(-1)!.number,
  };
  return { seed, places: [place], end: Math.max(...articles.map(({ article }) => article.at)) };
}
