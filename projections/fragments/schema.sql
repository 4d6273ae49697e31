-- Pieces of files that edges of ranges may have cut, and what was merged of them. Times are milliseconds since 1970. Ids of
-- numberings are this database's own: they differ between two builds.

-- One counting of article numbers: a group on a backbone since their last reset.
CREATE TABLE numbering (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  backbone text NOT NULL,
  group_name text NOT NULL,
  epoch integer NOT NULL,
  UNIQUE (backbone, group_name, epoch)
);

-- A range and its highest opened (run, pass): all pieces and blobs stored of it are of just that pair.
CREATE TABLE source (
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  numbering_id integer NOT NULL,
  run integer NOT NULL,
  pass integer NOT NULL,
  PRIMARY KEY (numbering_id, lo, hi)
);

-- A piece: its columns are what is decided by, its payload is all of it.
CREATE TABLE piece (
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  first_number bigint NOT NULL,
  last_number bigint NOT NULL,
  last_at bigint NOT NULL,
  posting_first_at bigint NOT NULL,
  posting_last_at bigint NOT NULL,
  numbering_id integer NOT NULL,
  run integer NOT NULL,
  pass integer NOT NULL,
  posting integer NOT NULL,
  -- Out of a lone blob, because another piece of its file is near.
  lone boolean NOT NULL,
  file_hash bytea NOT NULL,
  -- Bounds of the intervals of parts, both inclusive, one after the other; stated totals likewise with their segments.
  parts bigint[] NOT NULL,
  totals bigint[] NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (numbering_id, file_hash, lo, hi, posting)
);
-- Packed already.
ALTER TABLE piece ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX piece_source ON piece (numbering_id, lo, hi);

-- The lone parts of one edge of a range.
CREATE TABLE lone_blob (
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  first_number bigint NOT NULL,
  last_number bigint NOT NULL,
  numbering_id integer NOT NULL,
  -- Its message in the pass, and its place in that.
  k integer NOT NULL,
  i integer NOT NULL,
  -- 8 bytes each, ascending.
  hashes bytea NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (numbering_id, lo, hi, k, i)
);
ALTER TABLE lone_blob ALTER COLUMN hashes SET STORAGE EXTERNAL;
ALTER TABLE lone_blob ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX lone_blob_numbers ON lone_blob (numbering_id, last_number, first_number);

-- A merge that nothing has replaced or withdrawn.
CREATE TABLE merge (
  revision bigint NOT NULL,
  numbering_id integer NOT NULL,
  merge_id uuid PRIMARY KEY,
  file_hash bytea NOT NULL
);
CREATE INDEX merge_file ON merge (numbering_id, file_hash);

CREATE TABLE merge_source (
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  numbering_id integer NOT NULL,
  run integer NOT NULL,
  pass integer NOT NULL,
  posting integer NOT NULL,
  merge_id uuid NOT NULL,
  PRIMARY KEY (merge_id, lo, hi, posting)
);
CREATE INDEX merge_source_range ON merge_source (numbering_id, lo, hi);

-- The pieces of one file that belong to one posting; derived from the tables above and replaced with them.
CREATE TABLE unit (
  first_number bigint NOT NULL,
  last_number bigint NOT NULL,
  posting_first_at bigint NOT NULL,
  posting_last_at bigint NOT NULL,
  -- Time of its newest article.
  last_at bigint NOT NULL,
  -- Of its pieces, as they are stored.
  payload_bytes bigint NOT NULL,
  numbering_id integer NOT NULL,
  pieces integer NOT NULL,
  -- The id of a merge of just these pieces.
  merge_id uuid PRIMARY KEY,
  mergeable boolean NOT NULL,
  -- The parts that its articles promise are all there.
  complete boolean NOT NULL,
  -- No live merge has exactly its pieces.
  open boolean NOT NULL,
  file_hash bytea NOT NULL
);
CREATE INDEX unit_file ON unit (numbering_id, file_hash);
CREATE INDEX unit_open ON unit (complete, numbering_id, merge_id) WHERE open AND mergeable;
