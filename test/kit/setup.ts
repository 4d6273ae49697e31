import fc from 'fast-check';
import { propertyRuns } from './propertyRuns.ts';

fc.configureGlobal({ numRuns: propertyRuns(100) });
