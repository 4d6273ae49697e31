// Copies what tsc leaves behind (SQL, the sample, web files) into dist/, so that the compiled tree runs on its own.
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOTS = ['streams', 'processors', 'projections', 'api', 'infra'];
const ASSET = /\.(sql|gz|html|css|mjs|svg|yaml|conf|json)$/;
const SKIP = /(^|\/)(tsconfig[^/]*\.json|(copyAssets|bundlePackages)\.mjs)$/;

for (const root of ROOTS) {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !ASSET.test(path) || SKIP.test(path)) continue;
    const target = join('dist', path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(path, target);
  }
}
