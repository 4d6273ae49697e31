// Starts the worker from its TypeScript source: a thread inherits no loader in Node 20, whatever the main thread runs under.
// By a variable, for this is no dependency of the program: compiled, it never comes here.
const loader = 'tsx/esm/api';
const { register } = await import(loader);

register();
await import('./rangeWorker.ts');
