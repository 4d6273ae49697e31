-- Every version of the group list, whole and unchanged.
CREATE TABLE group_list (
  list_version integer PRIMARY KEY,
  list jsonb NOT NULL,
  at bigint NOT NULL
);

-- The entries of the newest version.
CREATE TABLE group_entry (
  group_name text PRIMARY KEY,
  rank integer NOT NULL,
  removed boolean NOT NULL,
  entry jsonb NOT NULL
);

-- Every version of the garbage table, whole and unchanged. Version 0, the default, is no row.
CREATE TABLE garbage_table (
  garbage_version integer PRIMARY KEY,
  garbage jsonb NOT NULL,
  at bigint NOT NULL
);
