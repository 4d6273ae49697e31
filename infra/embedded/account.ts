/** A system user by number: whom a child process runs as. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}
