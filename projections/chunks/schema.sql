-- Segment lists, written once and dropped whole: never updated. Times are milliseconds since 1970.

CREATE TABLE backbone_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE group_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- What wrote chunks: a range, with its highest opened (run, pass), of which every stored chunk of it is; or a live merge. The
-- same as in the catalog.
CREATE TABLE source (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  group_id integer NOT NULL,
  backbone_id integer NOT NULL,
  epoch integer NOT NULL,
  -- 0 for a merge.
  run integer NOT NULL,
  pass integer NOT NULL,
  -- Null for a merge.
  lo bigint,
  hi bigint,
  -- Null for a range.
  revision bigint,
  merge_id uuid,
  file_hash bytea,
  CHECK ((lo IS NULL) = (merge_id IS NOT NULL))
);
CREATE UNIQUE INDEX source_range ON source (group_id, backbone_id, epoch, lo, hi) WHERE lo IS NOT NULL;
CREATE UNIQUE INDEX source_merge ON source (merge_id) WHERE merge_id IS NOT NULL;

-- Which pieces a live merge consists of, each of its range's highest pair.
CREATE TABLE merge_piece (
  merge_source integer NOT NULL,
  source_id integer NOT NULL,
  posting integer NOT NULL,
  file_hash bytea NOT NULL,
  PRIMARY KEY (merge_source, source_id, posting)
);
CREATE INDEX merge_piece_source ON merge_piece (source_id, file_hash, posting);

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
