import { describe, expect, it } from 'vitest';
import { isKeyName } from '../../../api/keys.ts';
import { parseConfig } from '../../../infra/config/index.ts';
import { createKeyCommand } from '../../../infra/processes/commands/keys.ts';

describe('the name of an API key', () => {
  it.each(['a', 'sonarr', 'living room: Sonarr', 'ü'.repeat(100)])('%j is one', (name) => {
    expect(isKeyName(name)).toBe(true);
  });

  it.each(['', ' ', ' a', 'a ', 'a\nb', '\u001b[2J', 'x'.repeat(101), 'x'.repeat(3000)])('%j is refused', (name) => {
    const surroundings = { env: {}, print() {}, isTerminal: false, signal: new AbortController().signal };
    const context = { config: parseConfig('', 'f', {}), configFile: null, ...surroundings };
    expect(() => createKeyCommand(context, name, 'search')).toThrow(/USAGE_WRONG_VALUE: keys create takes 1 to 100/);
  });
});
