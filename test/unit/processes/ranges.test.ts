import { expect, it } from 'vitest';
import { skippedText } from '../../../infra/processes/commands/ranges.ts';

it('the reasons why lines of a range were skipped stand with their counts, the most frequent first', () => {
  expect(skippedText({ text: 3, random: 12_000, bad_date: 3, empty: 0 })).toBe('random 12,000, bad_date 3, text 3');
  expect(skippedText({})).toBe('');
});
