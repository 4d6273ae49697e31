import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole products before single servers: what takes longest must not begin when everything else is done. */
const ORDER = ['/test/fault/', '/test/story/', '/test/e2e/', '/test/contract/'] as const;
const rank = ({ moduleId }: TestSpecification): number => ORDER.findIndex((folder) => moduleId.includes(folder));

/** The order of the test files of one project. */
export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
