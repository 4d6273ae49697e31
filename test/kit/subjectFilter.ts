/** Whether a NATS subject filter (`*` one token, a final `>` one or more) matches a subject, as the server decides it. */
export function filterMatches(filter: string, subject: string): boolean {
  const wanted = filter.split('.');
  const given = subject.split('.');
  for (const [i, token] of wanted.entries()) {
    if (token === '>') return i === wanted.length - 1 && given.length > i;
    if (given[i] === undefined || (token !== '*' && token !== given[i])) return false;
  }
  return wanted.length === given.length;
}
