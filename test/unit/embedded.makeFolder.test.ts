import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../infra/embedded/makeFolder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hw-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('making a folder', () => {
  it('makes those above it, and is content with what is there', async () => {
    const path = join(folder, 'a', 'b', 'c');
    await makeFolder(path);
    await makeFolder(path);
    expect((await stat(path)).isDirectory()).toBe(true);
  });

  it('ends with an error where none can be made, instead of trying for ever', async () => {
    await expect(makeFolder('/proc/nope/runtime')).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(join(folder, 'file'), '');
    await expect(makeFolder(join(folder, 'file', 'x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
