import type { Conditions } from '../../processors/ports.ts';

/** Conditions as a test looks at them: what is reported now, and everything that ever was. */
export class RecordedConditions implements Conditions {
  readonly now = new Map<string, Error>();
  readonly ever: { readonly about: string; readonly error: Error }[] = [];

  report(about: string, error: Error): void {
    this.now.set(about, error);
    this.ever.push({ about, error });
  }

  clear(about: string): void {
    this.now.delete(about);
  }

  /** The code of what is reported about something, undefined when nothing is. */
  code(about: string): string | undefined {
    const error = this.now.get(about);
    return error && 'code' in error ? String(error.code) : error?.message;
  }
}
