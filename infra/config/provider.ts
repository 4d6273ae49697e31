import { Backbone, ProviderName } from '../../streams/ids.ts';
import type { Config, ProviderConfig } from './schema.ts';

/** A provider with every default that follows from its other keys. */
export interface Provider extends Omit<ProviderConfig, 'name' | 'backbone' | 'port'> {
  readonly name: ProviderName;
  readonly backbone: Backbone;
  readonly port: number;
}

export const providersOf = (config: Config): readonly Provider[] =>
  config.providers.map((p) => ({
    ...p,
    name: ProviderName(p.name),
    backbone: Backbone(p.backbone ?? p.name.toLowerCase().replaceAll('_', '-')),
    port: p.port ?? (p.tls === true ? 563 : 119),
  }));

/** Every backbone once, in the order of the file. */
export const backbonesOf = (config: Config): readonly Backbone[] => [
  ...new Set(providersOf(config).map((p) => p.backbone)),
];
