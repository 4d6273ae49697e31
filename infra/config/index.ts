export { addressProblem, unsetVariable } from './address.ts';
export { describeConfig } from './describe.ts';
export { CONFIG_FILE, type ConfigSource, loadConfig, parseConfig, type Secrets } from './load.ts';
export { withOrder } from './order.ts';
export { backbonesOf, type Provider, providersOf } from './provider.ts';
export type { BackfillOrder, Config, ProviderConfig } from './schema.ts';
