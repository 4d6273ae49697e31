import type { BackfillOrder } from '../../config/index.ts';

/** What `up` and `run` were told on their own command line, for the services that they start. */
export interface ServiceWishes {
  readonly configFile: string | null;
  /** Instead of `indexing.order`; only the coordinator reads it. */
  readonly order?: BackfillOrder | undefined;
}

/** The arguments of one service's process, which is not to start itself again. */
export const serviceArguments = (name: string, { configFile, order }: ServiceWishes): readonly string[] => [
  ...(configFile ? ['--config', configFile] : []),
  'run',
  name,
  '--bare',
  ...(order && name === 'coordinator' ? ['--order', order] : []),
];
