import { type Conditions, KINDS, LEAF_RULES } from './categoryRules.ts';
import { HASHED, MISC } from './categoryTree.ts';

/** What is known of a release when it is filed. */
export interface CategoryInput {
  readonly name: string;
  readonly groups: readonly string[];
  /** The category of a pre, as it was announced (`TV-X264`, `MP3`, `GAMES`): it decides where it is known. */
  readonly preCategory?: string | undefined;
  /** The name tells nothing. */
  readonly obfuscated: boolean;
}

interface Facts {
  readonly name: string;
  readonly words: string;
  readonly groups: string;
  readonly pre: string;
}

/** More of a name says nothing more about what it is. */
const NAME_MAX = 400;
const GROUPS_MAX = 20;

/** Lower case, one space for whatever stands between letters and digits. Most names are ASCII, which is several times as fast. */
function wordsOf(text: string): string {
  const lower = text.toLowerCase();
  const between = /[\u0080-\uffff]/.test(lower) ? /[^\p{L}\p{M}\p{N}]+/gu : /[^a-z0-9]+/g;
  return lower.replace(between, ' ');
}

function factsOf({ name, groups, preCategory = '' }: CategoryInput): Facts {
  const written = name.slice(0, NAME_MAX);
  const pre = preCategory.slice(0, NAME_MAX).toLowerCase();
  return {
    name: written,
    // The words of the pre category stand behind those of the name, so that `X264-HD` tells the quality as well.
    words: wordsOf(`${written} ${pre}`),
    groups: ` ${groups.slice(0, GROUPS_MAX).join(' ').toLowerCase()} `,
    pre,
  };
}

function holds(rule: Conditions, facts: Facts): boolean {
  if (rule.pre && !rule.pre.test(facts.pre)) return false;
  if (rule.groups && !rule.groups.test(facts.groups)) return false;
  if (rule.words && !rule.words.test(facts.words)) return false;
  if (rule.and && !rule.and.test(facts.words)) return false;
  if (rule.name && !rule.name.test(facts.name)) return false;
  return !rule.without?.test(facts.words);
}

/**
 * The leaf of the category tree that a release is filed under: of any name, in a time that grows with its length. A
 * function of its arguments alone, so that a rebuild files everything as it was.
 */
export function categoryOf(input: CategoryInput): number {
  if (input.obfuscated && input.preCategory === undefined) return HASHED;
  const facts = factsOf(input);
  const kind = KINDS.find((rule) => holds(rule, facts))?.is ?? 'other';
  return LEAF_RULES[kind].find((rule) => holds(rule, facts))?.leaf ?? MISC;
}
