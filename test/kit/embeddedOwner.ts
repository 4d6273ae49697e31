/**
 * A program of its own that starts the embedded servers on a data folder, prints one JSON line about them and waits:
 * `node --import tsx embeddedOwner.ts <data folder> [nats] [postgres]`. Tests kill it to see what is left.
 */
import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { startEmbeddedNats, startEmbeddedPostgres } from '../../infra/embedded/index.ts';

const [dataDir, ...names] = process.argv.slice(2);
const options = { dataDir: dataDir!, log: silentLog, clock: systemClock };
const nats = names.includes('nats') ? await startEmbeddedNats(options) : null;
const postgres = names.includes('postgres') ? await startEmbeddedPostgres(options) : null;
process.on('SIGTERM', async () => {
  await Promise.all([nats?.stop(10_000), postgres?.stop(10_000)]);
  process.exit(0);
});
setInterval(() => {}, 60_000);
// Last: whoever reads it may end us at once.
console.log(JSON.stringify({ nats, postgres }));
