import { HeadwaterError, isHeadwaterError } from '../../infra/base/errors/index.ts';

/** Replies of a server that takes leave: they say nothing of what was asked. */
const LEAVING: readonly unknown[] = [400, 502];

/**
 * Whom to blame for a provider that refuses (403 and the like) within a session in which it answers. The first time a range
 * meets that it may be the provider's trouble: it is left alone for a while. When the range meets it again at its one retry,
 * the range fails, so that what the provider cannot read does not hold up all else.
 */
export class Refusals {
  readonly #first: () => boolean;
  #spared: boolean | null = null;

  /** `first`: whether the range still has its retry; asked at most once. */
  constructor(first: () => boolean) {
    this.#first = first;
  }

  /** Whether the range was refused, by whatever provider. */
  get any(): boolean {
    return this.#spared !== null;
  }

  /** The error as `failureKind` should judge it. */
  blamed(error: unknown): unknown {
    if (!isHeadwaterError(error, 'NNTP_SERVICE_UNAVAILABLE') || LEAVING.includes(error.fields.reply)) return error;
    this.#spared ??= this.#first();
    return this.#spared ? error : new HeadwaterError('NNTP_UNEXPECTED_REPLY', error.fields, { cause: error });
  }
}
