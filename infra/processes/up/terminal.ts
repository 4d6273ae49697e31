interface LogLine {
  readonly level?: string;
  readonly msg?: string;
  readonly hint?: string;
  /** Set by the condition board on the line that ends a trouble. */
  readonly wellAgain?: boolean;
}

/** What a person at the terminal of `up` is shown of a service's log: troubles, and that they are over. */
export function terminalLine(service: string, print: (line: string) => void): (line: string) => void {
  return (line) => {
    try {
      const { level = '', msg, hint, wellAgain } = JSON.parse(line) as LogLine;
      const isTrouble = level === 'warn' || level === 'error';
      if (!isTrouble && wellAgain !== true) return;
      print(`${(isTrouble ? level : 'ok').padEnd(5)} ${service}: ${msg}`);
      if (hint) print(`      ${hint}`);
    } catch {
      // Not one of our lines: Node's own last words, which somebody should see.
      if (line.trim() !== '') print(`      ${service}: ${line}`);
    }
  };
}
