import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json: the same for the sources and for the compiled tree in dist/. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    try {
      readFileSync(join(folder, 'package.json'));
      return folder;
    } catch {
      const parent = dirname(folder);
      if (parent === folder) throw new TypeError('no package.json above the program');
      folder = parent;
    }
  }
}

export const PACKAGE_FOLDER = packageFolder();
export const VERSION: string = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')).version;
/** Named in every log line; HEADWATER_BUILD lets a deployment add what it was built from. */
export const BUILD = process.env.HEADWATER_BUILD ?? VERSION;
