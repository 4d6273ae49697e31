-- Up Migration

-- Where each projection stands. The row moves in the transaction that changes the projection's rows.
CREATE TABLE projection_position (
  -- Name of the Postgres schema that holds the rows: that of the projection, or <name>_next while it is rebuilt.
  name text PRIMARY KEY,
  projection text NOT NULL,
  -- Version of the projection's schema.sql and rules that made the rows.
  version integer NOT NULL,
  stream_family text NOT NULL,
  -- The last event taken: number of the stream and sequence in it.
  stream_number integer NOT NULL,
  sequence bigint NOT NULL,
  -- Milliseconds; null until the stream was first looked at. Another value means another stream.
  stream_created_at bigint,
  -- Counts the runners: only the newest may commit.
  epoch bigint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_key (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  key_hash bytea NOT NULL UNIQUE,
  -- The first characters, so that people can tell their keys apart.
  key_prefix text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  last_used_at timestamptz
);
