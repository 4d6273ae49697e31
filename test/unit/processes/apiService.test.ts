import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { silentLog } from '../../../infra/base/log.ts';
import { parseConfig } from '../../../infra/config/index.ts';
import { createMetrics } from '../../../infra/metrics/index.ts';
import type { ServiceContext } from '../../../infra/processes/service.ts';
import { apiService } from '../../../infra/processes/services/api.ts';

it('the API names the port that another program has, and is not ready', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const context = {
    config: parseConfig(`api: {port: ${port}}`, 'f', {}),
    log: silentLog,
    metrics: createMetrics({ service: 'api', processMetrics: false }),
  } as ServiceContext;
  let ready = false;
  const run = apiService.run(context, () => (ready = true), new AbortController().signal);
  await expect(run).rejects.toThrow(new RegExp(`API_CANNOT_LISTEN.*127\\.0\\.0\\.1:${port}.*EADDRINUSE`));
  expect(ready).toBe(false);
  other.close();
});
