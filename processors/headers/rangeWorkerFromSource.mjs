// Starts the worker from its TypeScript source: a thread inherits no loader in Node 20, whatever the main thread runs under.
import { register } from 'tsx/esm/api';

register();
await import('./rangeWorker.ts');
