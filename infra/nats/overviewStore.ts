import type { OverviewStore, RangeRun } from '../../processors/ports.ts';
import { formatSubject, parseSubject } from '../../streams/subjects.ts';
import { streamName } from '../../streams/topology.ts';
import type { NatsLink } from './link.ts';
import { retrying } from './outage.ts';

const STREAM = streamName('OVERVIEW');

/** The batches that OVERVIEW holds, one subject a run of a range. */
export const createOverviewStore = (link: NatsLink): OverviewStore => ({
  async held() {
    const info = await retrying(link, { stream: STREAM }, () =>
      link.jsm.streams.info(STREAM, { subjects_filter: '>' }),
    );
    return Object.keys(info.state.subjects ?? {})
      .map(parseSubject)
      .filter((subject) => subject?.verb === 'overview')
      .map(({ backbone, group, rangeId, run }): RangeRun => ({ backbone, group, rangeId, run }));
  },

  async purge(run) {
    const filter = formatSubject({ verb: 'overview', ...run });
    await retrying(link, { stream: STREAM }, () => link.jsm.streams.purge(STREAM, { filter }));
  },
});
