import { NewznabError } from './errors.ts';

export const LIMIT_MAX = 100;
export const OFFSET_MAX = 1_000_000;

/** The query of a request, tolerant as clients need it: names in any letter case, an empty value is an absent one. */
export class Parameters {
  readonly #values = new Map<string, string>();

  constructor(query: string) {
    for (const [name, value] of new URLSearchParams(query)) {
      const key = name.toLowerCase();
      if (value.trim() !== '' && !this.#values.has(key)) this.#values.set(key, value.trim());
    }
  }

  /** The first of the names that is there. */
  text(...names: string[]): string | undefined {
    return names.map((name) => this.#values.get(name)).find((value) => value !== undefined);
  }

  /** A whole number of 0 or more; what is none is refused with error 201. */
  whole(name: string): number | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,15}$/.test(value)) throw new NewznabError(201, name);
    return Number(value);
  }

  list(name: string): readonly string[] {
    const parts = this.#values.get(name)?.split(',') ?? [];
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  }
}

/** Page size: clamped, never refused; nothing, 0, a negative number or no number at all mean the default. */
export function limitOf(parameters: Parameters): number {
  const asked = Number(parameters.text('limit') ?? LIMIT_MAX);
  return Number.isFinite(asked) && asked >= 1 ? Math.min(LIMIT_MAX, Math.floor(asked)) : LIMIT_MAX;
}

export function offsetOf(parameters: Parameters): number {
  const asked = Number(parameters.text('offset') ?? 0);
  return Number.isFinite(asked) && asked >= 0 ? Math.min(OFFSET_MAX, Math.floor(asked)) : 0;
}
