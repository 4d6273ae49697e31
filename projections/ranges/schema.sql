-- The ledger of ranges. Times are milliseconds since 1970, numbers are article numbers.

-- One counting of article numbers: a group on a backbone since their last reset.
CREATE TABLE numbering (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  backbone text NOT NULL,
  group_name text NOT NULL,
  epoch integer NOT NULL,
  -- Every number that any range covers, whatever became of it.
  planned int8multirange NOT NULL DEFAULT '{}',
  -- Numbers that somebody wants parsed soon and that no range covers yet.
  wanted int8multirange NOT NULL DEFAULT '{}',
  -- The last marks, and when they changed to these.
  low bigint,
  high bigint,
  marks_at bigint,
  UNIQUE (backbone, group_name, epoch)
);
CREATE INDEX numbering_wanted ON numbering (backbone) WHERE wanted <> '{}';

-- When the marks of a backbone were last read; holds for all its groups.
CREATE TABLE poll (
  backbone text PRIMARY KEY,
  read_at bigint NOT NULL
);

CREATE TABLE range (
  numbering_id integer NOT NULL,
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  -- What follows is that of the highest run alone.
  run integer NOT NULL,
  pass integer NOT NULL,
  lane text NOT NULL,
  state text NOT NULL,
  failure_stage text,
  failure_class text,
  failure_code text,
  failure_message text,
  list_version integer,
  garbage_version integer,
  batches integer NOT NULL,
  lines bigint NOT NULL,
  -- Bytes of its lines, uncompressed.
  raw_bytes bigint NOT NULL,
  first_at bigint,
  last_at bigint,
  missing int8multirange NOT NULL,
  kept bigint NOT NULL,
  skipped jsonb NOT NULL,
  releases bigint NOT NULL,
  files bigint NOT NULL,
  segments bigint NOT NULL,
  -- RELEASES and CHUNKS are complete for it once projected past these.
  releases_position bigint,
  chunks_position bigint,
  planned_at bigint,
  fetched_at bigint,
  parsed_at bigint,
  ended_at bigint,
  -- It asks for missing numbers of another range, or of its own last run, again.
  reask boolean NOT NULL,
  -- It is to be planned again as run + 1.
  retry boolean NOT NULL,
  PRIMARY KEY (numbering_id, lo, hi)
);
CREATE INDEX range_outstanding ON range (state) WHERE state IN ('planned', 'fetched');
CREATE INDEX range_short ON range (parsed_at) WHERE state = 'short';
CREATE INDEX range_retry ON range (ended_at) WHERE state = 'failed' AND retry;
CREATE INDEX range_returning ON range (ended_at) WHERE state = 'retired' AND retry;
