import { randomBytes } from 'node:crypto';
import { createKey, isKeyName, listKeys, revokeKey, SCOPES, type Scope } from '../../../api/keys.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, withDatabase } from './client.ts';
import { tableLines } from './table.ts';

function scopesOf(text: string): readonly Scope[] {
  const asked = text.split(',').map((s) => s.trim());
  const unknown = asked.find((s) => !(SCOPES as readonly string[]).includes(s));
  if (unknown === undefined) return asked as Scope[];
  throw new HeadwaterError('USAGE_WRONG_VALUE', { option: '--scopes', takes: SCOPES.join(','), value: unknown });
}

function checkName(name: string): void {
  if (isKeyName(name)) return;
  const takes = '1 to 100 characters that can be seen';
  throw new HeadwaterError('USAGE_WRONG_VALUE', { option: 'keys create', takes, value: name.slice(0, 20) });
}

/** `keys create`: the key is printed alone on standard output, so that a script can take it. */
export function createKeyCommand(context: CommandContext, name: string, scopes: string): Promise<ExitCode> {
  checkName(name);
  const asked = scopesOf(scopes);
  return withDatabase(context, async (db) => {
    const { key } = await createKey(db, { name, scopes: asked, randomBytes });
    context.print(key);
    return EXIT.ok;
  });
}

const day = (date: Date | null): string | null => date?.toISOString().slice(0, 16).replace('T', ' ') ?? null;

export const listKeysCommand = (context: CommandContext, json: boolean): Promise<ExitCode> =>
  withDatabase(context, async (db) => {
    const keys = await listKeys(db);
    if (json) {
      context.print(JSON.stringify(keys, null, 2));
      return EXIT.ok;
    }
    const rows = keys.map((k) => [
      `${k.id}`,
      k.name,
      `${k.prefix}…`,
      k.scopes.join(','),
      day(k.createdAt),
      day(k.lastUsedAt),
      day(k.revokedAt),
    ]);
    for (const line of tableLines(['id', 'name', 'key', 'scopes', 'created', 'last used', 'revoked'], rows)) {
      context.print(line);
    }
    return EXIT.ok;
  });

export const revokeKeyCommand = (context: CommandContext, idOrPrefix: string): Promise<ExitCode> =>
  withDatabase(context, async (db) => {
    const revoked = await revokeKey(db, idOrPrefix);
    context.print(revoked ? `revoked key ${revoked.id} (${revoked.name})` : `there is no valid key ${idOrPrefix}`);
    return revoked ? EXIT.ok : EXIT.failed;
  });
