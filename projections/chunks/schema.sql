-- Segment lists, written once and dropped whole: never updated. Times are milliseconds since 1970.

CREATE TABLE backbone_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE group_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- A range that wrote chunks, and its highest opened (run, pass): every chunk stored is of just that pair.
CREATE TABLE source (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  group_id integer NOT NULL,
  backbone_id integer NOT NULL,
  epoch integer NOT NULL,
  run integer NOT NULL,
  pass integer NOT NULL,
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  UNIQUE (group_id, backbone_id, epoch, lo, hi)
);

-- Partitioned by the month of its first article; merge.sql makes the months as they come.
CREATE TABLE chunk (
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  source_id integer NOT NULL,
  posting integer NOT NULL,
  k integer NOT NULL,
  segments integer NOT NULL,
  key uuid NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (key, source_id, posting, k, first_at)
) PARTITION BY RANGE (first_at);
-- Packed already: compressing it again would cost time and gain nothing.
ALTER TABLE chunk ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX chunk_source ON chunk (source_id);

-- Dates that cannot be: before 2000 (946684800000) or from 2100 (4102444800000) on.
CREATE TABLE chunk_other PARTITION OF chunk DEFAULT;
ALTER TABLE chunk_other ADD CHECK (first_at < 946684800000 OR first_at >= 4102444800000);
