/** Host, port and database, for messages: never the login. */
export function serverOf(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname || 'localhost'}:${port || 5432}${pathname}`;
  } catch {
    return 'the address in DATABASE_URL';
  }
}
